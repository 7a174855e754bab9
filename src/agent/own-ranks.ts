/** The ranks of this member: what its template says of them, and the numbers that they have. */
import { OFF } from '../jobset/annotations/table.ts';
import type { GroupState } from '../jobset/epoch/group-state.ts';
import {
  ENV_COMPLETION_INDEX,
  ENV_JOB_INDEX,
  ENV_LOG_PREFIX,
  ENV_PROCESSES_PER_POD,
  ENV_REPLICATED_JOB_NAME,
} from '../jobset/names.ts';
import { MAX_RANKS, type MemberPlace, memberRanks } from '../jobset/ranks/group-ranks.ts';
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';
import { MAX_PROCESSES_PER_POD } from '../jobset/ranks/processes-per-pod.ts';
import type { EnvironmentReader } from './environment.ts';

export interface OwnRanks extends MemberPlace {
  /** How often the worker's command runs, 1 to 64. */
  readonly processes: number;
  /** Whether a line of a rank begins with its number. */
  readonly hasLogPrefix: boolean;
}

/** Undefined: the command runs once, and is no rank. */
export function ownRanksOf(read: EnvironmentReader): OwnRanks | undefined {
  if (read.optional(ENV_PROCESSES_PER_POD) === undefined) return undefined;
  const prefix = read.optional(ENV_LOG_PREFIX) ?? 'On';
  if (prefix !== 'On' && prefix !== OFF) read.reject(ENV_LOG_PREFIX, `On or ${OFF}`);
  const index = (name: string, expected: string): number =>
    read.required(name, expected) === '' ? 0 : read.integer(name, 0, 0, MAX_RANKS);
  return {
    replicatedJob: read.required(ENV_REPLICATED_JOB_NAME, 'the ReplicatedJob of the Pod'),
    jobIndex: index(ENV_JOB_INDEX, 'the index of the Job of the Pod'),
    completionIndex: index(ENV_COMPLETION_INDEX, 'the index of the Pod in an Indexed Job'),
    processes: read.integer(ENV_PROCESSES_PER_POD, 1, 1, MAX_PROCESSES_PER_POD),
    hasLogPrefix: prefix !== OFF,
  };
}

/** Undefined: it has no ranks, or the state numbers a group in which it starts no such processes. */
export function numbersIn(
  { ranks }: GroupState,
  own: OwnRanks | undefined,
): MemberRanks | undefined {
  const numbers = own && ranks && memberRanks(ranks, own);
  return numbers?.processes === own?.processes ? numbers : undefined;
}

/** The worker must not start yet: each of its processes would take another for rank 0. */
export function lacksNumbers(state: GroupState, own: OwnRanks | undefined): boolean {
  return own !== undefined && numbersIn(state, own) === undefined;
}

/** Why an agent that waits has no numbers. */
export function whyNoNumbers(state: GroupState | undefined): string {
  return state?.ranks === undefined
    ? `status.ranks of the JobSet has none for epoch ${(state?.deprecated ?? 0) + 1}: the operator has not stored them yet, or it, or its definition of JobSets, is of an older version`
    : `status.ranks of the JobSet has none for this Pod: its index is beyond the size that was counted, or ${ENV_PROCESSES_PER_POD} is not that of the other Pods`;
}
