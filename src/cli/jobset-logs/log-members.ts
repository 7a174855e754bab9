/** Whose logs are shown: the members of a JobSet, their ranks and containers. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { OFF } from '../../jobset/annotations/table.ts';
import { templateAgent } from '../../jobset/injection/template-agent.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { RestartRecord } from '../../jobset/jobset-status.ts';
import { identityOf, isSame, membershipOf } from '../../jobset/membership.ts';
import {
  ENV_LAST_WORDS,
  ENV_LOG_PREFIX,
  ENV_PROGRESS_PREFIX,
  LAST_WORDS,
  LOG_PREFIX,
  PROCESSES_PER_POD,
} from '../../jobset/names.ts';
import { checkedRanks } from '../../jobset/ranks/group-ranks.ts';
import { podRanks } from '../../jobset/ranks/pod-ranks.ts';
import { carriedProcesses } from '../../jobset/ranks/processes-per-pod.ts';
import { type MemberRank, rankOf, sizeOf } from '../../jobset/roster/short-names.ts';

/** Its label stands before each line. */
export interface LogMember extends MemberRank {
  readonly pod: Stored<Pod>;
}

/** Members by the chain of owners; objects that only have the labels are strangers. */
export function logMembers(
  jobSet: Stored<JobSet>,
  jobs: Iterable<Stored<Job>>,
  pods: Iterable<Stored<Pod>>,
): readonly LogMember[] {
  const byUid = new Map([...jobs].map((job) => [job.metadata.uid, job]));
  return [...pods].flatMap((pod) => {
    const membership = membershipOf(pod, (uid) => byUid.get(uid));
    const isMember = membership.kind === 'Member' && isSame(membership.jobSet, identityOf(jobSet));
    return isMember ? [{ pod, ...rankOf(jobSet, pod) }] : [];
  });
}

export interface WantedRank {
  /** Undefined: of every ReplicatedJob. */
  readonly replicatedJob: string | undefined;
  readonly rank: number;
}

export function hasRank(member: LogMember, { replicatedJob, rank }: WantedRank): boolean {
  return member.rank === rank && (replicatedJob ?? member.replicatedJob) === member.replicatedJob;
}

/** Why no member can have this rank, or undefined. */
export function rankProblem({ spec }: JobSet, wanted: WantedRank): string | undefined {
  const all = spec.replicatedJobs ?? [];
  const meant = all.filter(({ name }) => (wanted.replicatedJob ?? name) === name);
  if (meant.length === 0) {
    const names = all.map(({ name }) => name).join(', ');
    return `--rank: there is no ReplicatedJob ${wanted.replicatedJob}; there are ${names}`;
  }
  const ranges = meant.map((one) => {
    const isIndexed = one.template.spec.completionMode !== 'NonIndexed';
    return { name: one.name, count: isIndexed ? (one.replicas ?? 1) * sizeOf(one) : 0 };
  });
  if (ranges.some(({ count }) => wanted.rank < count)) return undefined;
  const known = ranges.map(({ name, count }) =>
    count === 0 ? `${name} has none` : `those of ${name} are 0 to ${count - 1}`,
  );
  return `--rank: there is no rank ${wanted.rank}: ${known.join(', ')}`;
}

/** The member in which the process with this rank runs, or why its lines cannot be found. */
export function memberOfProcess(
  { metadata: { annotations = {} }, status }: JobSet,
  process: number,
  epoch?: number,
): { readonly member: WantedRank } | { readonly problem: string } {
  if (annotations[PROCESSES_PER_POD] === undefined) {
    return {
      problem: `--process: the JobSet has no ${PROCESSES_PER_POD}; choose a member with --rank`,
    };
  }
  const ranks = status?.ranks;
  if (ranks === undefined) return { problem: '--process: no epoch was released yet' };
  if (epoch !== undefined && epoch !== ranks.epoch) {
    const why = `the numbers of epoch ${epoch} are not known, only those of epoch ${ranks.epoch}`;
    return { problem: `--process: ${why}; choose a member with --rank` };
  }
  const { world, replicatedJobs } = ranks;
  const found = replicatedJobs.findLast(({ firstRank }) => firstRank <= process);
  if (found === undefined || process >= world) {
    return { problem: `--process: there is no rank ${process}: they are 0 to ${world - 1}` };
  }
  const { name, firstRank, processesPerPod } = found;
  const rank = Math.floor((process - firstRank) / processesPerPod);
  return { member: { replicatedJob: name, rank } };
}

/** The rank with which the lines of a process of the Pod begin, or why no line says it. */
export function rankInLog(
  { status }: JobSet,
  pod: Pod,
  local: number,
): { readonly rank: number } | { readonly problem: string } {
  if (carriedProcesses(pod) === undefined) {
    return { problem: 'a launcher starts its processes, so no line says which of them wrote it' };
  }
  const noPrefix = whyNoPrefix(pod);
  if (noPrefix !== undefined) return { problem: noPrefix };
  const ranks = checkedRanks(status?.ranks);
  if (ranks === undefined)
    return { problem: 'no epoch was released yet, so ranks have no numbers' };
  const own = podRanks(ranks, pod);
  if (own === undefined || local >= own.processes) {
    return { problem: `status.ranks has no process ${local} of this Pod` };
  }
  return { rank: own.firstRank + local };
}

/**
 * Undefined: its agent writes the rank before each line. The Pod says it, not the JobSet: a change of
 * these annotations reaches Jobs that are made later.
 */
export function whyNoPrefix({ spec }: Pod): string | undefined {
  const variables = spec.containers.flatMap(({ env = [] }) => env);
  const told = (wanted: string): string | undefined =>
    variables.find(({ name }) => name === wanted)?.value;
  const why = (setting: string): string => `${setting}, so no line says which process wrote it`;
  if (told(ENV_LOG_PREFIX) === OFF) return why(`${LOG_PREFIX} is Off`);
  const isAlone = told(ENV_LAST_WORDS) === 'Files' && told(ENV_PROGRESS_PREFIX) === undefined;
  return isAlone ? why(`${LAST_WORDS} is Files`) : undefined;
}

/**
 * The newest failure, or the failure of `epoch`: in which epoch it was, and the Pods that failed,
 * which are the suspects, or else the first that was seen to fail.
 */
export function failedPods(
  history: readonly RestartRecord[] | undefined,
  epoch: number | undefined,
): { readonly epoch: number; readonly pods: readonly string[] } | undefined {
  const records = (history ?? []).filter((one) => epoch === undefined || one.epoch === epoch);
  const failure = records.find(({ suspects, witness }) => suspects?.length || witness);
  if (failure === undefined) return undefined;
  const { suspects = [], witness } = failure;
  const seen = suspects.length > 0 || witness === undefined ? suspects : [witness];
  return { epoch: failure.epoch, pods: seen.map(({ pod }) => pod) };
}

/** The name of the container to read. Throws if the Pod has no such container. */
export function containerOf({ metadata, spec }: Stored<Pod>, wanted: string | undefined): string {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const names = containers.map(({ name }) => name);
  if (wanted !== undefined) {
    if (names.includes(wanted)) return wanted;
    const has = `Pod ${metadata.name} has ${names.join(', ')}`;
    throw new Error(`--container is "${wanted}": ${has}`);
  }
  const preferred = metadata.annotations?.[DEFAULT_CONTAINER] ?? '';
  if (names.includes(preferred)) return preferred;
  // A supervising agent is in the container of its worker.
  const sidecar = templateAgent({ metadata, spec: { ...spec, containers: [] } })?.name;
  return spec.containers.find(({ name }) => name !== sidecar)?.name ?? names[0] ?? '';
}

/** Annotation by which a Pod tells kubectl whose log to show. */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';
