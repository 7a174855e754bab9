/**
 * Who failed first, by what is known of the ends of all workers. The witness of a restart is only
 * the first member of which the operator heard; those who follow it may be heard of earlier than
 * the one that they follow. An unknown culprit is an answer, a wrong one a defect
 * (`docs/design/culprits.md#the-rules`).
 */
import { MAX_SUSPECTS, type Suspect } from '../jobset.ts';
import type { Fate, GroupEvidence, Member } from './group-evidence.ts';
import type { WorkerEvidence } from './worker-evidence.ts';

export interface Suspicion extends Pick<Suspect, 'why' | 'confidence'> {
  readonly member: Member;
}

/** At most `MAX_SUSPECTS`, the likeliest first; none: unknown. */
export function suspectsOf(evidence: GroupEvidence): readonly Suspicion[] {
  const known = knownOf(evidence);
  for (const rule of RULES) {
    const found = rule(known);
    if (found.length === 0) continue;
    // A lost member explains its own silence, and nothing else.
    const isSure = rule === lost ? known.isAccountedFor : known.isTold;
    return found.slice(0, MAX_SUSPECTS).map(isSure ? same : likely);
  }
  return [];
}

/** How one worker made no progress: `made no progress for 61 s at step 330`. */
function silenceInWords({ silentMs, step }: WorkerEvidence): string {
  if (silentMs === undefined) return 'never reported progress';
  const where = step === undefined ? '' : ` at step ${step}`;
  return `made no progress for ${Math.round(silentMs / 1000)} s${where}`;
}

/** How a worker hung that was killed for it; undefined for another end. */
export function hangInWords(evidence: WorkerEvidence | undefined): string | undefined {
  return evidence?.how === 'Hung' ? silenceInWords(evidence) : undefined;
}

/** Ends this close to each other may have one cause, or follow each other in any order. */
const TOGETHER_MS = 2000;
/**
 * A group counts as silent so much later than its longest silence: a worker that fails takes a
 * while to end. Time-outs of collectives are longer.
 */
const SILENCE_SLACK_MS = 2000;
/** An agent that lives is heard of within 5 s. */
const UNHEARD_MS = 10_000;
/** In the last 5 s, by all processes of a worker: more than half a processor is busy. */
const BUSY_CPU_MS = 2500;
const IDLE_CPU_MS = 500;

/** No worker survives these, whatever the others do. 128 more are exit codes of shells. */
const FATAL_SIGNALS: ReadonlyMap<string, number> = new Map([
  ['SIGILL', 4],
  ['SIGBUS', 7],
  ['SIGFPE', 8],
  ['SIGKILL', 9],
  ['SIGSEGV', 11],
]);
const SHELL_CODES = 128;

interface End {
  readonly member: Member;
  readonly atMs: number;
  readonly evidence: WorkerEvidence;
}

interface Known {
  readonly size: number;
  /** All that agents have told, in the order of time. */
  readonly ends: readonly End[];
  /** Those that nobody but the worker or its own agent brought about. */
  readonly deaths: readonly End[];
  readonly others: readonly { readonly member: Member; readonly fate: Fate }[];
  /** When the first worker died, or if no death is known, was stopped. */
  readonly firstMs: number | undefined;
  /** The end of each member is known, at a time that is sure. */
  readonly isTold: boolean;
  /** Each member told of its end, or is lost. */
  readonly isAccountedFor: boolean;
  readonly pace: Pace;
}

/**
 * `Unknown`: no member has done two steps, so that no silence can be told from a slow start.
 * `Pausing`: the last step is older than the longest silence before, but not by much. The first
 * that died may have needed that long to end, or another failed before it: launchers such as
 * torchrun end seconds after the rank that they run.
 */
type Pace = 'Unknown' | 'Stepping' | 'Pausing' | 'Silent';

type Rule = (known: Known) => readonly Suspicion[];

const RULES: readonly Rule[] = [lost, leftEarly, killed, firstToFail, oddOneOut];

/** Its Pod was taken away, or its node failed: its agent can tell nothing. */
function lost({ others, firstMs }: Known): readonly Suspicion[] {
  if (firstMs === undefined) return [];
  return others.flatMap(({ member, fate }) => {
    if (fate.kind !== 'Lost' || fate.seenMs >= firstMs) return [];
    const { deletedMs, seenMs, isNodeLost } = fate;
    // One that was alive just before may have been taken away just after.
    const isSure = deletedMs !== undefined && deletedMs <= firstMs;
    const isSilent = deletedMs !== undefined && firstMs - seenMs > UNHEARD_MS;
    const node = isNodeLost === true ? `node ${member.node ?? ''} is lost` : undefined;
    const why = node ?? `its Pod ${deletedMs === undefined ? 'is gone' : 'was deleted'}`;
    return [{ member, why, confidence: isSure || isSilent ? 'Certain' : 'Likely' }];
  });
}

/** Many that leave are the end of the work, and nobody waits for one after which others step on. */
function leftEarly({ ends, others, firstMs, size }: Known): readonly Suspicion[] {
  if (firstMs === undefined) return [];
  const left = [
    ...others.flatMap(({ member, fate }) =>
      fate.kind === 'Succeeded' && fate.atMs < firstMs ? [{ member, atMs: fate.atMs }] : [],
    ),
    ...ends.filter((end) => isSuccess(end.evidence) && end.atMs < firstMs),
  ];
  if (left.length > few(size)) return [];
  const why = 'exited with code 0 before the others';
  const { newestMs, longestMs } = reportsOf(ends);
  const missed = left.filter(({ atMs }) => newestMs - atMs <= longestMs + SILENCE_SLACK_MS);
  return missed.map(({ member }) => ({ member, why, confidence: 'Likely' }));
}

function killed({ deaths }: Known): readonly Suspicion[] {
  const fatal = deaths.filter(({ evidence }) => fatalEnd(evidence) !== undefined);
  const [first] = fatal;
  if (first === undefined) return [];
  const leadMs = first.atMs - (deaths[0]?.atMs ?? first.atMs);
  // A crash so long after another failure is its consequence.
  if (leadMs > TOGETHER_MS) return [];
  const together = fatal.filter((end) => end.atMs - first.atMs <= TOGETHER_MS);
  const isFirst = deaths[0] === first;
  const confidence = isFirst && together.length === 1 ? 'Certain' : 'Likely';
  return together.map(({ member, evidence }) => {
    return { member, why: fatalEnd(evidence) ?? '', confidence };
  });
}

function firstToFail({ ends, deaths, others, pace, isTold }: Known): readonly Suspicion[] {
  const [first, ...later] = deaths;
  if (first === undefined || pace === 'Unknown' || pace === 'Silent') return [];
  if (first.evidence.how === 'Hung') return [];
  // One that was told to stop and exits like the first was perhaps failing already.
  const alike = ends.filter(
    ({ member, evidence: { how, exitCode } }) =>
      member !== first.member && how === 'Stopped' && isFailure(exitCode, first.evidence.exitCode),
  );
  const isAlone = ![...later, ...alike].some(({ atMs }) => atMs - first.atMs <= TOGETHER_MS);
  // Those of whom nothing is known may have been earlier than all these.
  if (!isAlone && !isTold) return [];
  const isAfterAll = others.some(({ fate }) => fate.kind === 'Succeeded');
  const { member, evidence } = first;
  const why = `${endInWords(evidence)} before the others`;
  // Launchers may wait for each other, so which of them ends first is chance.
  const isLaunched = ends.some((end) => end.evidence.launcher === true);
  const isSure = isAlone && !isAfterAll && !isLaunched && pace === 'Stepping';
  return [{ member, why, confidence: isSure ? 'Certain' : 'Likely' }];
}

/** When one hangs, all hang: only what it does, unlike the others, tells it from them. */
function oddOneOut({ ends, deaths, pace, size }: Known): readonly Suspicion[] {
  const isHang = deaths[0]?.evidence.how === 'Hung';
  if ((pace === 'Stepping' || pace === 'Pausing') && !isHang) return [];
  const stopped = ends.filter(({ evidence }) => /[Tt]/.test(evidence.states ?? ''));
  if (stopped.length > 0 && stopped.length <= few(size)) {
    const why = 'its processes were stopped while the others waited';
    const confidence = pace === 'Unknown' ? 'Likely' : 'Certain';
    return stopped.map(({ member }) => ({ member, why, confidence }));
  }
  if (pace === 'Unknown') return [];
  // A member in a phase with a time-out of its own is where it says that it is.
  const waiting = ends.filter(({ evidence }) => evidence.inPhase !== true);
  for (const odd of [behind, inDiskWait, spinning, sleeping]) {
    const found = odd(waiting);
    if (found.length > 0) return found;
  }
  return [];
}

function behind(ends: readonly End[]): readonly Suspicion[] {
  const reporting = ends.filter(({ evidence }) => evidence.step !== undefined);
  const stepOf = ({ evidence }: End): number => evidence.step ?? 0;
  const newest = reporting.reduce((most, end) => Math.max(most, stepOf(end)), 0);
  // Those that wait for each other may be a step apart.
  for (const apart of [1, 0]) {
    const late = outliers(reporting, (end) => stepOf(end) < newest - apart);
    if (late.length === 0) continue;
    return late.map((end) => {
      const steps = newest - stepOf(end);
      const lag = `${steps} ${steps === 1 ? 'step' : 'steps'} behind the others`;
      const why = `${silenceInWords(end.evidence)}, ${lag}`;
      return { member: end.member, why, confidence: 'Likely' };
    });
  }
  return [];
}

function inDiskWait(ends: readonly End[]): readonly Suspicion[] {
  const odd = outliers(ends, ({ evidence }) => evidence.states?.includes('D') === true);
  return likelyAll(odd, 'its processes waited for a disk while the others did not');
}

function spinning(ends: readonly End[]): readonly Suspicion[] {
  const measured = ends.filter(({ evidence }) => evidence.cpuMs !== undefined);
  if (!measured.every((end) => isBusy(end) || isIdle(end))) return [];
  return likelyAll(outliers(measured, isBusy), 'its processes were busy while the others waited');
}

function sleeping(ends: readonly End[]): readonly Suspicion[] {
  const measured = ends.filter(({ evidence }) => evidence.cpuMs !== undefined);
  if (!measured.every((end) => isBusy(end) || isIdle(end))) return [];
  return likelyAll(outliers(measured, isIdle), 'its processes slept while the others were busy');
}

function isBusy({ evidence }: End): boolean {
  return (evidence.cpuMs ?? 0) >= BUSY_CPU_MS;
}

function isIdle({ evidence }: End): boolean {
  return (evidence.cpuMs ?? 0) <= IDLE_CPU_MS;
}

/** None if there are too many for outliers. */
function outliers(ends: readonly End[], isOdd: (end: End) => boolean): readonly End[] {
  const odd = ends.filter(isOdd);
  const isMinority = odd.length <= few(ends.length) && 2 * odd.length < ends.length;
  return isMinority ? odd : [];
}

/** At most 4, and under a quarter of the group; one in a group of four or less. */
function few(size: number): number {
  return Math.min(MAX_SUSPECTS, Math.max(1, Math.floor((size - 1) / 4)));
}

function likelyAll(ends: readonly End[], why: string): readonly Suspicion[] {
  return ends.map(({ member }) => ({ member, why, confidence: 'Likely' }));
}

function same(suspicion: Suspicion): Suspicion {
  return suspicion;
}

function likely(suspicion: Suspicion): Suspicion {
  return { ...suspicion, confidence: 'Likely' };
}

function knownOf({ size, members }: GroupEvidence): Known {
  const ends: End[] = [];
  const others: Known['others'][number][] = [];
  for (const { member, fate } of members) {
    if (fate.kind === 'Ended') ends.push({ member, atMs: fate.atMs, evidence: fate.evidence });
    else others.push({ member, fate });
  }
  ends.sort((a, b) => a.atMs - b.atMs || compare(a.member, b.member));
  others.sort((a, b) => timeOf(a.fate) - timeOf(b.fate) || compare(a.member, b.member));
  const deaths = ends.filter(({ evidence }) => isDeath(evidence));
  const firstMs = (deaths[0] ?? ends[0])?.atMs;
  const isAccountedFor = members.length >= size && members.every(({ fate }) => isSure(fate));
  const isTold = isAccountedFor && others.every(({ fate }) => fate.kind !== 'Lost');
  const pace = paceAt(firstMs, ends);
  return { size, ends, deaths, others, firstMs, isTold, isAccountedFor, pace };
}

function isSure(fate: Fate): boolean {
  return fate.kind === 'Ended' ? fate.isOverApi !== true : fate.kind !== 'Returned';
}

function timeOf(fate: Fate): number {
  return fate.kind === 'Lost' ? fate.seenMs : fate.atMs;
}

function compare(a: Member, b: Member): number {
  return (
    order(a.replicatedJob, b.replicatedJob) ||
    a.jobIndex - b.jobIndex ||
    (a.completionIndex ?? 0) - (b.completionIndex ?? 0) ||
    order(a.pod, b.pod) ||
    order(a.podUid, b.podUid)
  );
}

function order(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function isFailure(exitCode: number | undefined, ofFirst: number | undefined): boolean {
  return exitCode !== undefined && exitCode !== 0 && exitCode === ofFirst;
}

function isDeath(evidence: WorkerEvidence): boolean {
  return evidence.how === 'Hung' || (evidence.byItself === true && !isSuccess(evidence));
}

function isSuccess({ how, byItself, exitCode }: WorkerEvidence): boolean {
  return how === 'Exited' && byItself === true && exitCode === 0;
}

/** How a worker ended that no failure of another can have ended so; undefined: otherwise. */
function fatalEnd(evidence: WorkerEvidence): string | undefined {
  const { signal, exitCode = 0, oom, byItself, how } = evidence;
  if (oom === true && (byItself === true || how === 'Hung')) {
    return `${endInWords(evidence)} after its memory had run out`;
  }
  if (byItself !== true) return undefined;
  if (signal !== undefined) return FATAL_SIGNALS.has(signal) ? endInWords(evidence) : undefined;
  for (const [name, number] of FATAL_SIGNALS) {
    if (exitCode === SHELL_CODES + number) return `${endInWords(evidence)} (${name})`;
  }
  return undefined;
}

function endInWords(evidence: WorkerEvidence): string {
  const { how, signal, exitCode } = evidence;
  if (how === 'Hung') return silenceInWords(evidence);
  if (signal !== undefined) return `was killed by ${signal}`;
  return exitCode === undefined ? 'ended' : `exited with code ${exitCode}`;
}

/** The newest report of the group, and the shortest of its members' longest silences. */
function reportsOf(ends: readonly End[]): {
  readonly newestMs: number;
  readonly longestMs: number;
} {
  let longestMs = Number.POSITIVE_INFINITY;
  let newestMs = Number.NEGATIVE_INFINITY;
  for (const { atMs, evidence } of ends) {
    longestMs = Math.min(longestMs, evidence.longestMs ?? longestMs);
    if (evidence.silentMs !== undefined) newestMs = Math.max(newestMs, atMs - evidence.silentMs);
  }
  return { newestMs, longestMs };
}

/** What the group did when the first worker died. */
function paceAt(firstMs: number | undefined, ends: readonly End[]): Pace {
  const { newestMs, longestMs } = reportsOf(ends);
  const isInPhase = ends.some(({ evidence }) => evidence.inPhase === true);
  if (firstMs === undefined || longestMs === Number.POSITIVE_INFINITY) return 'Unknown';
  const silentMs = firstMs - newestMs;
  if (isInPhase || silentMs <= longestMs) return 'Stepping';
  return silentMs <= longestMs + SILENCE_SLACK_MS ? 'Pausing' : 'Silent';
}
