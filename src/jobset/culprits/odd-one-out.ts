/** Rules about what few workers of a group did that was silent, unlike the rest. */
import { silenceInWords } from './end-in-words.ts';
import { type End, few, type Known, type Suspicion } from './known.ts';

/** In the last 5 s, by all processes of a worker: more than half a processor is busy. */
const BUSY_CPU_MS = 2500;
const IDLE_CPU_MS = 500;

/** When one hangs, all hang: only what it does, unlike the others, tells it from them. */
export function oddOneOut({ ends, deaths, pace, size }: Known): readonly Suspicion[] {
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

function likelyAll(ends: readonly End[], why: string): readonly Suspicion[] {
  return ends.map(({ member }) => ({ member, why, confidence: 'Likely' }));
}
