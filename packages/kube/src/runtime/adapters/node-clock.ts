import type { Clock, Timer } from '../ports/clock.ts';

/** The machine's time. Armed timers keep the process alive; cancel them to let it end. */
export const nodeClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, fire) {
    // An immediate fires right after the pending events; `setTimeout` turns 0 into a millisecond.
    if (!(delayMs > 0)) {
      const immediate = setImmediate(fire);
      return { cancel: () => clearImmediate(immediate) };
    }
    return armed(delayMs, fire);
  },
};

interface Alarm {
  readonly dueMs: number;
  readonly fire: () => void;
}

/** `setTimeout` fires at once for a longer delay. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
/** How early Node's timers may fire, because they count whole milliseconds of another clock. */
const EARLY_MS = 1;

/** Node keeps timers of equal delay in the order of calls, so the first wait has the full delay. */
function armed(delayMs: number, fire: () => void): Timer {
  const alarm: Alarm = { dueMs: performance.now() + delayMs, fire };
  const rung = (): void => {
    const remainingMs = alarm.dueMs - performance.now();
    if (remainingMs > EARLY_MS) timeout = wait(rung, remainingMs);
    else fireInOrder(alarm);
  };
  let timeout = wait(rung, delayMs);
  return {
    cancel: () => {
      clearTimeout(timeout);
      const at = early.indexOf(alarm);
      if (at >= 0) early.splice(at, 1);
    },
  };
}

function wait(rung: () => void, delayMs: number): NodeJS.Timeout {
  return setTimeout(rung, Math.min(Math.ceil(delayMs), LONGEST_TIMEOUT_MS));
}

/** Timers that fired too early, and others that must not overtake them, by due times. */
const early: Alarm[] = [];

function fireInOrder(alarm: Alarm): void {
  const [first] = early;
  const isFirst = first === undefined || first.dueMs > alarm.dueMs;
  if (isFirst && performance.now() >= alarm.dueMs) {
    alarm.fire();
    return;
  }
  early.splice(early.findLastIndex(({ dueMs }) => dueMs <= alarm.dueMs) + 1, 0, alarm);
  setImmediate(fireEarly);
}

/** Runs once for each of them, and again until it is due, within a millisecond. */
function fireEarly(): void {
  const [first] = early;
  // The timer was cancelled.
  if (first === undefined) return;
  if (performance.now() < first.dueMs) {
    setImmediate(fireEarly);
    return;
  }
  early.shift();
  first.fire();
}
