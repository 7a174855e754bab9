/**
 * The numbers of the ranks of a group, as `status.ranks` stores them. Members are counted in the order
 * of the ReplicatedJobs in the spec, then by job index, then by completion index. So the status needs
 * the numbers of the first member of each ReplicatedJob only, and an agent computes its own.
 */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { jobName, podHostname, subdomainOf } from '../derived-names.ts';
import type { GroupRanks, ReplicatedJobRanks } from '../jobset-status.ts';
import type { MemberRanks } from './member-ranks.ts';
import { MAX_PROCESSES_PER_POD, MAX_REPLICATED_JOBS_WITH_RANKS } from './processes-per-pod.ts';

/** A member by its place in the group. */
export interface MemberPlace {
  readonly replicatedJob: string;
  readonly jobIndex: number;
  readonly completionIndex: number;
}

/** An int32, as `RANK` is in programs. */
export const MAX_RANKS = 2_147_483_647;

/**
 * `processesOf` returns how many processes each member of a ReplicatedJob starts; undefined: its
 * members are no ranks. The result is undefined if there are no ranks, or more than can be numbered.
 */
export function groupRanksOf(
  jobSet: string,
  spec: Pick<DefaultedSpec, 'replicatedJobs' | 'network'>,
  processesOf: (replicatedJob: string) => number | undefined,
): GroupRanks | undefined {
  const ranked: ReplicatedJobRanks[] = [];
  let groups = 0;
  let world = 0;
  for (const { name, replicas, template } of spec.replicatedJobs) {
    const processes = processesOf(name);
    const podsPerJob = template.spec.parallelism ?? 1;
    const members = replicas * podsPerJob;
    if (processes === undefined || members === 0) continue;
    ranked.push({
      name,
      firstGroupRank: groups,
      firstRank: world,
      processesPerPod: processes,
      podsPerJob,
    });
    groups += members;
    world += members * processes;
  }
  const [first] = ranked;
  const isTooMuch = ranked.length > MAX_REPLICATED_JOBS_WITH_RANKS || world > MAX_RANKS;
  if (first === undefined || isTooMuch) return undefined;
  const host = podHostname(jobName(jobSet, first.name, 0), 0);
  const master = `${host}.${subdomainOf(jobSet, spec)}`;
  return { world, groups, master, replicatedJobs: ranked };
}

/** Undefined: the member has no ranks, or these numbers are of a group without it. */
export function memberRanks(
  { world, groups, master, replicatedJobs }: GroupRanks,
  { replicatedJob, jobIndex, completionIndex }: MemberPlace,
): MemberRanks | undefined {
  const at = replicatedJobs.findIndex(({ name }) => name === replicatedJob);
  const ranked = replicatedJobs[at];
  if (ranked === undefined || completionIndex >= ranked.podsPerJob) return undefined;
  const before = jobIndex * ranked.podsPerJob + completionIndex;
  const groupRank = ranked.firstGroupRank + before;
  if (groupRank >= (replicatedJobs[at + 1]?.firstGroupRank ?? groups)) return undefined;
  const { processesPerPod: processes } = ranked;
  const firstRank = ranked.firstRank + before * processes;
  return { processes, firstRank, world, groupRank, groups, master };
}

/** As a message has it: for each ReplicatedJob a list, because a line has few bytes. */
export function rankFields({ replicatedJobs, ...totals }: GroupRanks): object {
  const jobs = replicatedJobs.map((each) => [
    each.name,
    each.firstGroupRank,
    each.firstRank,
    each.processesPerPod,
    each.podsPerJob,
  ]);
  return { ...totals, jobs };
}

export function parseRankFields(value: unknown): GroupRanks | undefined {
  if (!isJsonObject(value) || !Array.isArray(value['jobs'])) return undefined;
  const { jobs, ...totals } = value;
  const replicatedJobs = jobs.map((job: unknown) => {
    const [name, firstGroupRank, firstRank, processes, podsPerJob] = Array.isArray(job) ? job : [];
    return { name, firstGroupRank, firstRank, processesPerPod: processes, podsPerJob };
  });
  return checkedRanks({ ...totals, replicatedJobs });
}

/** Undefined unless all numbers fit each other, so that no two members get the same. */
export function checkedRanks(value: unknown): GroupRanks | undefined {
  if (!isJsonObject(value)) return undefined;
  const { world, groups, master, replicatedJobs } = value;
  const isGroup =
    isCount(world) &&
    isCount(groups) &&
    isHostName(master) &&
    Array.isArray(replicatedJobs) &&
    replicatedJobs.length <= MAX_REPLICATED_JOBS_WITH_RANKS;
  if (!isGroup) return undefined;
  const checked: ReplicatedJobRanks[] = [];
  let nextGroupRank = groups;
  let nextRank = world;
  for (const each of replicatedJobs.toReversed()) {
    const ranked = isJsonObject(each) ? checkedJob(each) : undefined;
    if (ranked === undefined) return undefined;
    const members = nextGroupRank - ranked.firstGroupRank;
    const isWhole = members > 0 && members % ranked.podsPerJob === 0;
    const ranks = members * ranked.processesPerPod;
    if (!isWhole || nextRank - ranked.firstRank !== ranks) return undefined;
    nextGroupRank = ranked.firstGroupRank;
    nextRank = ranked.firstRank;
    checked.unshift(ranked);
  }
  if (nextGroupRank !== 0 || nextRank !== 0) return undefined;
  return { world, groups, master, replicatedJobs: checked };
}

function checkedJob(value: JsonObject): ReplicatedJobRanks | undefined {
  const { name, firstGroupRank, firstRank, processesPerPod, podsPerJob } = value;
  const isRanked =
    isHostName(name) &&
    isNumber(firstGroupRank) &&
    isNumber(firstRank) &&
    isCount(processesPerPod) &&
    processesPerPod <= MAX_PROCESSES_PER_POD &&
    isCount(podsPerJob);
  if (!isRanked) return undefined;
  return { name, firstGroupRank, firstRank, processesPerPod, podsPerJob };
}

/** It becomes a variable of a process, so nothing but a host name passes. */
function isHostName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 253 && /^[a-z0-9][-a-z0-9.]*$/.test(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_RANKS;
}

function isCount(value: unknown): value is number {
  return isNumber(value) && value > 0;
}
