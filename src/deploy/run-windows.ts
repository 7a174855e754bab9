/**
 * PromQL about a window of a run's time. The gauges of runs come from the replica that leads, so a
 * change of leaders begins new series: levels are the highest of those that were there a moment ago,
 * and growth is a difference of levels, never `increase`, which takes a fall for a counter's reset.
 */

/** Long enough for another replica to lead and to be asked. */
const HANDOVER = '5m';

/** The level of a gauge of runs, now or `before`. */
function level(metric: string, before = ''): string {
  const at = before === '' ? '' : ` offset ${before}`;
  return `max by (namespace, jobset) (last_over_time(lockstep_jobset_${metric}[${HANDOVER}]${at}))`;
}

/** Seconds of some classes together. */
function seconds(classes: string, before = ''): string {
  const at = before === '' ? '' : ` offset ${before}`;
  const series = `lockstep_jobset_goodput_seconds{class${classes}}`;
  return `sum by (namespace, jobset) (max by (namespace, jobset, class) (last_over_time(${series}[${HANDOVER}]${at})))`;
}

/** Time that tells of goodput: the time of `lockstep_jobset_goodput_ratio`, and pending work. */
const JUDGED = '!~"Waiting|Suspended|Running"';

/** A class without time has no series, and counts as 0 where the run has others. */
function orZero(expression: string, before = ''): string {
  return `(${expression} or 0 * ${seconds(JUDGED, before)})`;
}

/**
 * The share of the last `window` that was not lost, 0 to 1. It needs a run that was judged for
 * `leastBefore` seconds before the window, and for `leastWithin` seconds in it.
 *
 * Work is `Pending` until a checkpoint saves it or an end loses it. What is lost in the window may
 * have been done before: as much as was pending when the window began is no loss of the window.
 */
export function goodputOfLast(
  window: string,
  { leastBefore, leastWithin }: { readonly leastBefore: number; readonly leastWithin: number },
): string {
  const growth = (classes: string): string =>
    `${orZero(seconds(classes))} - ${orZero(seconds(classes, window), window)}`;
  const lost = `${growth('="Lost"')} - ${orZero(seconds('="Pending"', window), window)}`;
  const wasted = `clamp_min(${lost}, 0) + ${growth('=~"Starting|Hung|Restarting"')}`;
  const within = `(${seconds(JUDGED)} - (${seconds(JUDGED, window)} > ${leastBefore}) > ${leastWithin})`;
  return `clamp_min(1 - (${wasted}) / ${within}, 0)`;
}

/**
 * How many steps the last `window` brought, as a share of what such windows of the last day brought
 * in the middle. It needs `leastWindows` of them, with `leastSteps` steps in the one in the middle,
 * and an epoch that is older than the window: a restart repeats steps.
 */
export function speedOfLast(
  window: string,
  {
    epochFor,
    leastWindows,
    leastSteps,
  }: { readonly epochFor: string; readonly leastWindows: number; readonly leastSteps: number },
): string {
  const step = (at: string): string =>
    `max by (namespace, jobset) (lockstep_jobset_step${at === '' ? '' : ` offset ${at}`})`;
  const windows = `(${step('')} - ${step(window)})[1d:${window}]`;
  const usual = `(quantile_over_time(0.5, ${windows}) >= ${leastSteps})`;
  const isKnown = `count_over_time(${windows}) >= ${leastWindows}`;
  const isSettled = `${level('epoch')} == ${level('epoch', epochFor)}`;
  return `((${level('step')} - ${level('step', window)}) / ${usual} and ${isKnown} and ${isSettled})`;
}
