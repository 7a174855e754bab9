/**
 * A failure in one phrase, for the list, `status`, `report` and the page, for conditions and Events.
 * It says how sure it is. It never names the witness as the cause: the witness was only seen first,
 * and its failure may have followed another.
 */
import { humanDuration } from '@lockstep/kube/duration.ts';
import { describeEnd, endInWords } from '../epoch/witness.ts';
import type { LastWords, RestartCause, RestartWitness, Suspect } from '../jobset-status.ts';
import { processInWords } from '../ranks/rank-words.ts';

export interface Failure {
  readonly cause: string;
  readonly suspects?: readonly Suspect[] | undefined;
  readonly witness?: RestartWitness | undefined;
  /** The suspects are not known yet: members report their ends when they have stopped. */
  readonly isOpen?: true;
}

/** How the phrase names a member. */
type Naming =
  /** By its rank and node, for a line with little room. */
  | 'Rank'
  /** By its Pod too, for someone who wants its log. */
  | 'RankAndPod';

/**
 * `worker 5 of w (w-0, index 5) on node n: was killed by SIGKILL`, after `likely` if it is not
 * certain. Without a suspect: `the cause is not known; first seen: ...`.
 */
export function failureInWords(failure: Failure, naming: Naming = 'Rank'): string {
  const { cause, suspects = [], witness, isOpen } = failure;
  const suspect = likeliest(suspects);
  if (suspect !== undefined) return suspectInWords(suspect, naming);
  const seen = witness === undefined ? '' : `; ${firstSeenInWords(witness, naming)}`;
  // A member that waits at the barrier cannot be the cause of a crash before it.
  const known = cause === 'StartFailed' || witness === undefined ? FAILURES.get(cause) : undefined;
  return `${known ?? `the cause is not known${isOpen === true ? ' yet' : ''}`}${seen}`;
}

/** `first seen: worker 5 of w (w-0, index 5) on node n: exited with code 1 (Error)` */
export function firstSeenInWords(witness: RestartWitness, naming: Naming = 'Rank'): string {
  return `first seen: ${witnessInWords(witness, naming)}`;
}

/** The other suspects, if there are several: what each did. */
export function othersInWords({ suspects = [] }: Failure, naming: Naming): readonly string[] {
  const first = likeliest(suspects);
  return suspects
    .filter((suspect) => suspect !== first)
    .map((suspect) => `or ${suspectInWords(suspect, naming)}`);
}

/**
 * Names the member whose last words a record has: a suspect, or the witness if no suspect has any.
 * `Short` is for a line below the failure, and leaves out a Pod that this line names.
 */
export function lastWordsTitle(
  { pod, beforeEndMs = 0 }: LastWords,
  { suspects = [] }: Failure,
  length: 'Whole' | 'Short' = 'Whole',
): string {
  const isSuspect = suspects.length === 0 || suspects.some((suspect) => suspect.pod === pod);
  const isNamed = suspects.length === 0 || likeliest(suspects)?.pod === pod;
  const whose = length === 'Short' && isNamed ? '' : ` of Pod ${pod}`;
  const age = beforeEndMs < OLD_MS ? '' : `, ${humanDuration(beforeEndMs)} before its end`;
  return `last words${whose}${isSuspect ? '' : ', which is no suspect and was only seen first'}${age}`;
}

/** Words this shortly before the end belong to it. */
const OLD_MS = 1000;

/** Why a group with sidecar agents has no suspects: they do not see how their workers end. */
export const SIDECARS_CANNOT_TELL =
  'sidecar agents cannot tell who failed first; agents in Supervisor mode can';

/** The suspect that is certain, or else the first. */
export function likeliest(suspects: readonly Suspect[] = []): Suspect | undefined {
  return suspects.find(({ confidence }) => confidence === 'Certain') ?? suspects[0];
}

/** Causes that no user wanted. */
export function isFailure({ cause }: Pick<Failure, 'cause'>): boolean {
  return FAILURES.has(cause);
}

/** The words if nothing is known of the member that failed. */
const FAILURES: ReadonlyMap<string, string> = new Map<RestartCause, string>([
  ['WorkerFailed', 'a worker failed'],
  ['StartFailed', 'containers keep crashing before the barrier'],
  ['JobsRecreated', 'a Job failed'],
]);

function suspectInWords(suspect: Suspect, naming: Naming): string {
  const { worker, why, confidence } = suspect;
  return `${confidence === 'Certain' ? '' : 'likely '}${named(worker, suspect, naming)}: ${why}`;
}

function witnessInWords(witness: RestartWitness, naming: Naming): string {
  const { worker } = witness;
  if (worker === undefined) return describeEnd(witness);
  return `${named(worker, witness, naming)}: ${endInWords(witness)}`;
}

/** `rank 107 (process 3) of worker 13 of w (w-0, index 13), Pod w-0-13-x on node n` */
function named(worker: string, at: RestartWitness | Suspect, naming: Naming): string {
  const { pod, node, process, rank } = at;
  const whole = process === undefined ? worker : `${processInWords(process, rank)} of ${worker}`;
  const which = naming === 'Rank' ? whole : `${whole}, Pod ${pod}`;
  return node === undefined ? which : `${which} on node ${node}`;
}
