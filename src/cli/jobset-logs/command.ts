/** `lockstep logs JOBSET`: the logs of all members, merged in the order of time. */
import { defined } from '@lockstep/kube/json/defined.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import { allLabelled, type NamedJobSet, unlessInterrupted, withJobSet } from '../named-jobset.ts';
import { tell } from '../tell.ts';
import { type EpochWindow, epochWindow } from './epoch-lines.ts';
import { followLogs } from './follow.ts';
import { failedPods, hasRank, logMembers, memberOfProcess, rankProblem } from './log-members.ts';
import type { LogsOptions } from './options.ts';
import { type LogsJob, memberLog, printSoFar } from './so-far.ts';

export async function jobSetLogs(options: LogsOptions, flags: ConnectionFlags): Promise<number> {
  const code = await withJobSet(options, flags, async (named) => {
    const job = { ...named, options, ...selection(named, options) };
    if (options.isFollowed) await followLogs(job);
    else await showLogs(job);
    return 0;
  });
  return options.isFollowed ? unlessInterrupted(code) : code;
}

function selection(
  { jobSet }: NamedJobSet,
  options: LogsOptions,
): Pick<LogsJob, 'shown' | 'isWanted'> {
  const { epoch, onlyFailed, withTimestamps, withAgent, tailLines, process } = options;
  const ofProcess = process === undefined ? undefined : memberOfProcess(jobSet, process, epoch);
  if (ofProcess !== undefined && 'problem' in ofProcess) throw new Error(ofProcess.problem);
  const rank = ofProcess?.member ?? options.rank;
  const rankFault = rank === undefined ? undefined : rankProblem(jobSet, rank);
  if (rankFault !== undefined) throw new Error(rankFault);
  const found = epoch === undefined ? undefined : epochWindow(jobSet, epoch);
  if (found !== undefined && 'problem' in found) throw new Error(`--epoch: ${found.problem}`);
  const failed = onlyFailed ? failedPods(jobSet.status?.restartHistory, epoch) : undefined;
  if (onlyFailed && failed === undefined) throw new Error('--failed: no failure is recorded');
  const window = found?.window ?? (failed && failedWindow(jobSet, failed.epoch, options));
  return {
    // A server would count the lines of later epochs too.
    shown: {
      withTimestamps,
      withAgent,
      window,
      ...defined({ process, tailLines: window && tailLines }),
    },
    isWanted: (member) =>
      (rank === undefined || hasRank(member, rank)) &&
      (failed === undefined || failed.pods.includes(member.pod.metadata.name)),
  };
}

/**
 * A worker that was started again in place writes into the same log, behind what the failed one
 * said. Undefined: what is wanted is not bound to the failure, or no worker ran in that epoch.
 */
function failedWindow(
  jobSet: JobSet,
  epoch: number,
  { isFollowed, sinceSeconds }: LogsOptions,
): EpochWindow | undefined {
  if (isFollowed || sinceSeconds !== undefined) return undefined;
  const found = epochWindow(jobSet, epoch);
  return 'window' in found ? found.window : undefined;
}

async function showLogs(job: LogsJob): Promise<void> {
  const { jobSet, isWanted } = job;
  const [jobs, pods] = await Promise.all([allLabelled(JOBS, job), allLabelled(PODS, job)]);
  const members = logMembers(jobSet, jobs, pods);
  const wanted = members.filter(isWanted);
  if (wanted.length === 0) throw new Error(whyNone(job, members.length));
  const count = await printSoFar(
    job,
    wanted.map((member) => ({ member, log: memberLog(job, member) })),
  );
  const { window } = job.shown;
  if (count === 0 && window !== undefined) {
    tell(`no line of epoch ${window.epoch} is left: ${WHY_NONE_LEFT}`);
  }
}

const WHY_NONE_LEFT =
  'in sidecar mode, most nodes remove the log of a container when they restart it in place';

function whyNone({ jobSet, options }: LogsJob, members: number): string {
  const { metadata, spec, status } = jobSet;
  const name = `JobSet ${metadata.namespace}/${metadata.name}`;
  if (members > 0) {
    return options.onlyFailed
      ? `${name}: the Pod that failed is gone, and its log with it; see "lockstep report ${metadata.name}"`
      : `${name}: no Pod has this rank now; -f waits for it`;
  }
  const state = status?.terminalState ?? '';
  if (state !== '')
    return `${name} has ${state.toLowerCase()}, and its Pods are gone with their logs`;
  if (spec.suspend === true) return `${name} is suspended and has no Pods; -f waits for them`;
  return `${name} has no Pods yet; -f waits for them`;
}
