/** `lockstep logs JOBSET`: the logs of all members, merged in the order of time. */
import { JOBS } from '../../kube/objects/job.ts';
import { PODS } from '../../kube/objects/pod.ts';
import { allPages } from '../../runtime/client/pages.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import { labelledBy, type NamedJobSet, withJobSet } from '../named-jobset.ts';
import { epochWindow } from './epoch-lines.ts';
import { followLogs } from './follow.ts';
import { failedPods, hasRank, logMembers, rankProblem } from './log-members.ts';
import type { LogsOptions } from './options.ts';
import { type LogsJob, memberLog, printSoFar } from './so-far.ts';

const EXIT_INTERRUPTED = 130;
/** Pods or Jobs per request. */
const PAGE_SIZE = 500;

export async function jobSetLogs(options: LogsOptions, flags: ConnectionFlags): Promise<number> {
  const code = await withJobSet(options, flags, async (named) => {
    const job = { ...named, options, ...selection(named, options) };
    if (options.isFollowed) await followLogs(job);
    else await showLogs(job);
    return 0;
  });
  // Ctrl-C is the usual way to stop looking, not a failure.
  return options.isFollowed && code === EXIT_INTERRUPTED ? 0 : code;
}

function selection(
  { jobSet }: NamedJobSet,
  { rank, epoch, onlyFailed, withTimestamps, withAgent }: LogsOptions,
): Pick<LogsJob, 'shown' | 'isWanted'> {
  const rankFault = rank === undefined ? undefined : rankProblem(jobSet, rank);
  if (rankFault !== undefined) throw new Error(rankFault);
  const found = epoch === undefined ? undefined : epochWindow(jobSet, epoch);
  if (found !== undefined && 'problem' in found) throw new Error(`--epoch: ${found.problem}`);
  const failed = onlyFailed ? failedPods(jobSet.status?.restartHistory, epoch) : undefined;
  if (failed?.length === 0) throw new Error('--failed: no failure is recorded');
  return {
    shown: { withTimestamps, withAgent, window: found?.window },
    isWanted: (member) =>
      (rank === undefined || hasRank(member, rank)) &&
      (failed === undefined || failed.includes(member.pod.metadata.name)),
  };
}

async function showLogs(job: LogsJob): Promise<void> {
  const { client, jobSet, at, signal, isWanted } = job;
  const selected = { ...labelledBy(jobSet, at), limit: PAGE_SIZE, signal };
  const [jobs, pods] = await Promise.all([
    allPages((next) => client.list(JOBS, { ...selected, ...next })),
    allPages((next) => client.list(PODS, { ...selected, ...next })),
  ]);
  const members = logMembers(jobSet, jobs, pods);
  const wanted = members.filter(isWanted);
  if (wanted.length === 0) throw new Error(whyNone(job, members.length));
  await printSoFar(
    job,
    wanted.map((member) => ({ member, log: memberLog(job, member) })),
  );
}

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
