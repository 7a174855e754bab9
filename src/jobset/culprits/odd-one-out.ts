/** Rules for a silent group: few of its workers did something that the rest did not do. */
import { silenceInWords } from '../worker-end/end-in-words.ts';
import { isByItself, isSuccess } from '../worker-end/worker-end.ts';
import {
  type EndedMember,
  type EvidenceInOrder,
  few,
  isSteppedOn,
  type Suspicion,
} from './known.ts';
import { readableLine } from './readable.ts';

/** CPU time of all processes of a worker in the last 5 s. More than half a processor is busy. */
const BUSY_CPU_MS = 2500;
const IDLE_CPU_MS = 500;
/** Runnable time in the last 5 s. A thread that spins never sleeps, even with little CPU. */
const SPINNING_MS = 4500;
const WAITING_MS = 2500;

/** When one worker hangs, all hang. The first one differs only in its processes, step or place. */
export function oddOneOut(known: EvidenceInOrder): readonly Suspicion[] {
  const { ends, deaths, pace } = known;
  const isHang = deaths[0]?.how === 'Hung';
  if ((pace === 'Stepping' || pace === 'Pausing') && !isHang) return [];
  const stopped = stoppedEnds(known);
  if (stopped.length > 0) {
    // Earlier agents report processes, too, that were stopped since the start, without a time.
    const isSure = stopped.every(({ stoppedMs }) => stoppedMs !== undefined);
    const confidence = isSure && pace !== 'Unknown' ? 'Certain' : 'Likely';
    return stopped.map(({ member }) => ({ member, why: STOPPED, confidence }));
  }
  if (pace === 'Unknown' && !isHang) return [];
  // A member in a phase with a time-out of its own is busy with that phase. A member that exited
  // with 0 waits for nobody.
  const waiting = ends.filter((end) => end.inPhase !== true && !isSuccess(end));
  const rules =
    pace === 'Unknown' ? [elsewhere] : [elsewhere, behind, within, inDiskWait, spinning, sleeping];
  for (const odd of rules) {
    const found = odd(waiting);
    if (found.length > 0) return found;
  }
  return [];
}

/** Workers whose processes were stopped, if they are few; none if the group still stepped. */
export function stoppedOnes(known: EvidenceInOrder): readonly Suspicion[] {
  return likelyAll(stoppedEnds(known), STOPPED);
}

const STOPPED = 'its processes were stopped while the others waited';

/** Whether any worker was stopped. One is enough, since the whole group waits for it. */
export function isAnyStopped(known: EvidenceInOrder): boolean {
  return allStopped(known).length > 0;
}

function stoppedEnds(known: EvidenceInOrder): readonly EndedMember[] {
  const stopped = allStopped(known);
  return stopped.length > few(known.size) ? [] : stopped;
}

function allStopped({ ends }: EvidenceInOrder): readonly EndedMember[] {
  return ends.filter((end) => {
    const { atMs, states = '', stoppedMs, step } = end;
    if (!/[Tt]/.test(states) || isByItself(end)) return false;
    // The worker's agent has compared this with the worker's own steps, if it made some.
    if (step !== undefined || stoppedMs === undefined) return true;
    return !isSteppedOn(ends, atMs - stoppedMs);
  });
}

/** Few workers whose programs were at another place than most. */
function elsewhere(ends: readonly EndedMember[]): readonly Suspicion[] {
  const told = ends.filter(({ where }) => where !== undefined);
  if (2 * told.length <= ends.length) return [];
  const counts = new Map<string, number>();
  for (const { where = '' } of told) {
    counts.set(where, (counts.get(where) ?? 0) + 1);
  }
  const [usual] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
  const odd = outliers(told, ({ where }) => where !== usual);
  return odd.map(({ member, where = '' }) => {
    const why = `was in ${readableLine(where)} while the others were in ${readableLine(usual)}`;
    return { member, why, confidence: 'Likely' };
  });
}

function behind(ends: readonly EndedMember[]): readonly Suspicion[] {
  const reporting = ends.filter(({ step }) => step !== undefined);
  const stepOf = ({ step = 0 }: EndedMember): number => step;
  const newest = reporting.reduce((most, end) => Math.max(most, stepOf(end)), 0);
  // Workers that wait for each other may be a step apart.
  for (const apart of [1, 0]) {
    const late = outliers(reporting, (end) => stepOf(end) < newest - apart);
    if (late.length === 0) continue;
    return late.map((end) => {
      const steps = newest - stepOf(end);
      const lag = `${steps} ${steps === 1 ? 'step' : 'steps'} behind the others`;
      const why = `${silenceInWords(end)}, ${lag}`;
      return { member: end.member, why, confidence: 'Likely' };
    });
  }
  return [];
}

/** Few workers of which one process did something that the others of its Pod did not do. */
function within(ends: readonly EndedMember[]): readonly Suspicion[] {
  const odd = ends.filter((end) => end.local !== undefined && !isByItself(end));
  if (odd.length > few(ends.length)) return [];
  return likelyAll(odd, 'this process differed from the others of its Pod');
}

function inDiskWait(ends: readonly EndedMember[]): readonly Suspicion[] {
  const odd = outliers(ends, ({ states = '' }) => states.includes('D'));
  return likelyAll(odd, 'its processes waited for a disk while the others did not');
}

function spinning(ends: readonly EndedMember[]): readonly Suspicion[] {
  const odd = outliers(clearlyBusyOrIdle(ends), isBusy);
  return likelyAll(odd, 'its processes were busy while the others waited');
}

function sleeping(ends: readonly EndedMember[]): readonly Suspicion[] {
  const odd = outliers(clearlyBusyOrIdle(ends), isIdle);
  return likelyAll(odd, 'its processes slept while the others were busy');
}

/** None if any worker is neither clearly busy nor clearly idle. */
function clearlyBusyOrIdle(ends: readonly EndedMember[]): readonly EndedMember[] {
  const measured = ends.filter(({ cpuMs }) => cpuMs !== undefined);
  return measured.every((end) => isBusy(end) || isIdle(end)) ? measured : [];
}

function isBusy({ cpuMs = 0, runnableMs = 0 }: EndedMember): boolean {
  return cpuMs >= BUSY_CPU_MS || runnableMs >= SPINNING_MS;
}

function isIdle(end: EndedMember): boolean {
  const { cpuMs = 0, runnableMs } = end;
  if (isBusy(end)) return false;
  return runnableMs === undefined ? cpuMs <= IDLE_CPU_MS : runnableMs <= WAITING_MS;
}

/** The matching workers; none if they are too many to be outliers. */
function outliers(
  ends: readonly EndedMember[],
  isOdd: (end: EndedMember) => boolean,
): readonly EndedMember[] {
  const odd = ends.filter(isOdd);
  const isMinority = odd.length <= few(ends.length) && 2 * odd.length < ends.length;
  return isMinority ? odd : [];
}

function likelyAll(ends: readonly EndedMember[], why: string): readonly Suspicion[] {
  return ends.map(({ member }) => ({ member, why, confidence: 'Likely' }));
}
