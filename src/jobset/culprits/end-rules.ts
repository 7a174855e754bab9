/** Rules about how workers ended, and when. */
import { endInWords, fatalEnd, rankEndInWords } from '../worker-end/end-in-words.ts';
import { type Exit, exitCodeIn, isSuccess, type WorkerEnd } from '../worker-end/worker-end.ts';
import {
  type EndedMember,
  type EvidenceInOrder,
  few,
  isSteppedOn,
  paceAt,
  type Suspicion,
  silentMsAt,
} from './known.ts';
import { isAnyStopped, stoppedOnes } from './odd-one-out.ts';

/** Ends this close to each other may have one cause, or follow each other in any order. */
const TOGETHER_MS = 2000;
/** The order of ends this close to each other in different members is not known. */
const SAME_TIME_MS = 300;
/** An agent that lives sends something within 5 s. */
const UNHEARD_MS = 10_000;

/** Members whose Pod was taken away, or whose node failed: their agents report nothing. */
export function lost({ others, firstMs }: EvidenceInOrder): readonly Suspicion[] {
  if (firstMs === undefined) return [];
  return others.flatMap(({ member, end }) => {
    if (end.kind !== 'Lost' || end.seenMs >= firstMs) return [];
    const { deletedMs, seenMs, isNodeLost } = end;
    // A Pod that was alive just before may have been taken away just after.
    const isSure = deletedMs !== undefined && deletedMs <= firstMs;
    const isSilent = deletedMs !== undefined && firstMs - seenMs > UNHEARD_MS;
    const node = isNodeLost === true ? `node ${member.node ?? ''} is lost` : undefined;
    const why = node ?? `its Pod ${deletedMs === undefined ? 'is gone' : 'was deleted'}`;
    return [{ member, why, confidence: isSure || isSilent ? 'Certain' : 'Likely' }];
  });
}

/**
 * Members that exited with 0 before the others. If many did, the work is done. If others made steps
 * after an exit, they do not wait for that member.
 */
export function leftEarly({ ends, others, firstMs, size }: EvidenceInOrder): readonly Suspicion[] {
  if (firstMs === undefined) return [];
  const left = [
    ...others.flatMap(({ member, end }) =>
      end.kind === 'Succeeded' && end.atMs < firstMs ? [{ member, atMs: end.atMs }] : [],
    ),
    ...ends.filter((end) => isSuccess(end) && end.atMs < firstMs),
  ];
  if (left.length > few(size)) return [];
  const why = 'exited with code 0 before the others';
  const missed = left.filter(({ atMs }) => !isSteppedOn(ends, atMs));
  return missed.map(({ member }) => ({ member, why, confidence: 'Likely' }));
}

/**
 * Workers that were killed or crashed. Memory that runs out may silence a group first. Any other
 * kill of a silent group may be a consequence: somebody may have wanted to end the hang.
 */
export function killed(known: EvidenceInOrder): readonly Suspicion[] {
  const { ends, deaths, pace } = known;
  const fatal = deaths.filter((end) => fatalEnd(end) !== undefined);
  const [first] = fatal;
  if (first === undefined) return [];
  const leadMs = first.atMs - (deaths[0]?.atMs ?? first.atMs);
  // A crash this late after another failure is its consequence.
  if (leadMs > TOGETHER_MS) return [];
  const isOutOfMemory = first.oom === true;
  const isLate = pace === 'Silent' && !isOutOfMemory;
  const dead = new Set(fatal.map(({ member }) => member));
  const stopped = stoppedOnes(known).filter(({ member }) => !dead.has(member));
  if (isLate && stopped.length > 0) return [];
  const together = fatal.filter((end) => end.atMs - first.atMs <= TOGETHER_MS);
  const isFirst = deaths[0] === first;
  const isSure = isFirst && together.length === 1 && !isLate && !isAnyStopped(known);
  const silence = `, ${Math.round(silentMsAt(ends, first.atMs) / 1000)} s after the last step`;
  const found = together.map((end): Suspicion => {
    const why = `${fatalEnd(end) ?? ''}${isLate ? silence : ''}`;
    return { member: end.member, why, confidence: isSure ? 'Certain' : 'Likely' };
  });
  return [...found, ...stopped];
}

/**
 * A worker that printed a traceback while the group was stepping, and took long to end. Others may
 * have failed or hung meanwhile because they missed it. Text alone is never certain.
 */
export function failedSlowly(known: EvidenceInOrder): readonly Suspicion[] {
  const { ends, deaths, isTold, pace } = known;
  const death = firstDeath(deaths);
  const [first, second] = tracebacks(ends);
  if (first === undefined || death === undefined) return [];
  const { end, sinceMs } = first;
  const isSoon = (atMs: number): boolean => atMs - sinceMs <= TOGETHER_MS;
  // An end that came first, and this soon, says more than the traceback.
  if (death.atMs < sinceMs || (death === end && isSoon(end.atMs))) return [];
  // Peers of a rank that ended without a word raise within milliseconds. An exit with 0 may be seen later.
  const seenLateMs = death.firstRank === 'Left' ? TOGETHER_MS : SAME_TIME_MS;
  if (WORDLESS.has(death.firstRank) && death.atMs - sinceMs <= seenLateMs) return [];
  const paceThen = paceAt(sinceMs, ends);
  if (paceThen === 'Unknown' || paceThen === 'Silent') return [];
  // Another worker may have died by itself: soon after, or while the group still stepped.
  const rivals = deaths.filter(
    (each) =>
      each !== end &&
      (each === death
        ? isSoon(each.atMs) || pace === 'Stepping'
        : each.failedMs === undefined && isSoon(each.atMs)),
  );
  const isAlone = rivals.length === 0 && (second === undefined || !isSoon(second.sinceMs));
  if (!isAlone && !isTold) return [];
  const tookMs = end.atMs - sinceMs;
  const took = tookMs < 1000 ? '' : ` ${Math.round(tookMs / 1000)} s before it ended,`;
  const why = `printed a traceback${took} before the others failed`;
  const found: readonly Suspicion[] = [
    { member: end.member, why, confidence: 'Likely' },
    ...rivals.map((rival): Suspicion => {
      return { member: rival.member, why: endInWords(rival), confidence: 'Likely' };
    }),
  ];
  const named = new Set(found.map(({ member }) => member));
  return [...stoppedOnes(known).filter(({ member }) => !named.has(member)), ...found];
}

/**
 * Workers that printed a traceback, the earliest first. It is no failure if the group made further
 * steps, or if the worker exited with 0.
 */
function tracebacks(
  ends: readonly EndedMember[],
): readonly { readonly end: EndedMember; readonly sinceMs: number }[] {
  return ends
    .flatMap((end) => {
      const { failedMs, exit } = end;
      const sinceMs = end.atMs - (failedMs ?? 0);
      const counts =
        failedMs !== undefined && exitCodeIn(exit) !== 0 && !isSteppedOn(ends, sinceMs);
      return counts ? [{ end, sinceMs }] : [];
    })
    .toSorted((a, b) => a.sinceMs - b.sinceMs);
}

export function firstToFail(known: EvidenceInOrder): readonly Suspicion[] {
  const { ends, deaths, others, pace, isTold } = known;
  const first = firstDeath(deaths);
  if (first === undefined || pace === 'Unknown' || pace === 'Silent') return [];
  if (first.how === 'Hung') return [];
  // A worker that was told to stop and exits like the first was perhaps failing already.
  const alike = ends.filter(
    ({ member, how, exit, firstRank }) =>
      member !== first.member &&
      how === 'Stopped' &&
      firstRank === undefined &&
      isSameFailure(exit, first.exit),
  );
  const isAlone = ![...deaths, ...alike].some(
    (end) => end !== first && end.atMs - first.atMs <= TOGETHER_MS,
  );
  // Members without a known end may have ended earlier than all these.
  if (!isAlone && !isTold) return [];
  const isAfterAll = others.some(({ end }) => end.kind === 'Succeeded') || ends.some(isSuccess);
  const why = `${rankEndInWords(first)} before the others`;
  // Launchers may wait for each other, so which of them ends first is chance.
  const isLaunched = ends.some((end) => end.launcher === true && end.firstRank === undefined);
  // A rank that ended without a word may have had no more to do.
  const isVague = first.firstRank !== undefined && !CLEAR.has(first.firstRank);
  // A group may wait for stopped workers for as long as its longest step.
  const stopped = stoppedOnes(known);
  const isClear = !isAfterAll && !isLaunched && !isVague && !isAnyStopped(known);
  const isSure = isAlone && isClear && pace === 'Stepping';
  return [...stopped, { member: first.member, why, confidence: isSure ? 'Certain' : 'Likely' }];
}

const CLEAR: ReadonlySet<WorkerEnd['firstRank']> = new Set(['Raised', 'Killed']);
const WORDLESS: ReadonlySet<WorkerEnd['firstRank']> = new Set(['Killed', 'Silent', 'Left']);

/** Ranks raise within milliseconds when a peer is gone, so one that ended without a word comes first. */
function firstDeath(deaths: readonly EndedMember[]): EndedMember | undefined {
  const [earliest] = deaths;
  const wordless = deaths.filter(
    ({ atMs, firstRank }) =>
      atMs - (earliest?.atMs ?? atMs) <= SAME_TIME_MS && WORDLESS.has(firstRank),
  );
  return wordless.length === 1 ? wordless[0] : earliest;
}

function isSameFailure(exit: Exit | undefined, ofFirst: Exit | undefined): boolean {
  const exitCode = exitCodeIn(exit);
  return exitCode !== undefined && exitCode !== 0 && exitCode === exitCodeIn(ofFirst);
}
