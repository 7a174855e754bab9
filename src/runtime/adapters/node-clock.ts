import type { Clock, Timer } from '../ports/clock.ts';

/** The machine's time. Armed timers keep the process alive; whoever stops must cancel them. */
export const nodeClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, fire) {
    // An immediate comes right after the events at hand; `setTimeout` makes a whole millisecond of 0.
    if (!(delayMs > 0)) {
      const immediate = setImmediate(fire);
      return { cancel: () => clearImmediate(immediate) };
    }
    return armed(performance.now() + delayMs, fire);
  },
};

/** `setTimeout` takes no longer delay: it fires at once instead. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

function armed(due: number, fire: () => void): Timer {
  let timeout: NodeJS.Timeout;
  const arm = (): void => {
    // Node counts whole milliseconds of another clock and may be up to one early: look again.
    const remaining = Math.ceil(due - performance.now());
    if (remaining <= 0) fire();
    else timeout = setTimeout(arm, Math.min(remaining, LONGEST_TIMEOUT_MS));
  };
  timeout = setTimeout(arm, Math.min(Math.ceil(due - performance.now()), LONGEST_TIMEOUT_MS));
  return { cancel: () => clearTimeout(timeout) };
}
