/** Renders where the time of a JobSet went. */

import { humanDuration } from '@lockstep/kube/duration.ts';
import { printable } from '@lockstep/kube/quote.ts';
import { CLASS_MEANINGS, classLabel, type GoodputClass } from '../jobset/goodput/classes.ts';
import type { GoodputAt } from '../jobset/goodput/goodput-at.ts';
import type { AvoidedNode } from '../jobset/jobset-status.ts';
import { withShortNames } from '../jobset/roster/short-names.ts';
import { momentText } from './printed-text.ts';
import { seconds } from './restart-timeline.ts';

/** What was productive, what became of the rest, the largest first, and the goodput. */
export function goodputLines(goodput: GoodputAt | null): readonly string[] {
  if (goodput === null) return [];
  const { elapsedMs } = goodput;
  const productiveMs = goodput.classes.Productive;
  const all = duration(elapsedMs);
  const rest = parts(goodput).filter(([name]) => name !== 'Productive');
  const told = rest.map(
    ([name, ms]) => `${classLabel(name)} ${duration(ms)} (${share(ms, elapsedMs)})`,
  );
  return [
    productiveMs === 0
      ? `time: ${all}, and no checkpoint has saved any of it`
      : `time: ${all}, ${share(productiveMs, elapsedMs)} of it productive`,
    ...(told.length === 0 ? [] : [`the rest: ${told.join(', ')}`]),
    shareText(goodput),
  ];
}

/** A row for each class with its meaning, the largest first, and their sum. No row is wider. */
export function goodputTable(goodput: GoodputAt, width: number): readonly string[] {
  const { elapsedMs } = goodput;
  const row = (name: string, time: string, percent: string, meaning: string): string => {
    const short = `  ${name.padEnd(10)}${time.padStart(9)}${percent.padStart(9)}`;
    const whole = `${short}  ${meaning}`;
    return whole.length <= width ? whole : short.slice(0, width);
  };
  const sum = (name: string, ms: number, meaning: string): string =>
    row(name, duration(ms), share(ms, elapsedMs), meaning);
  const kept =
    goodput.share === null
      ? row('goodput', '', 'unknown', goodput.unknown ?? '')
      : row(
          'goodput',
          '',
          share(Math.min(goodput.share, goodput.share < 1 ? MAX_PART : 1), 1),
          `of the time under way${untilText(goodput)}`,
        );
  return [
    ...parts(goodput).map(([name, ms]) => sum(classLabel(name), ms, CLASS_MEANINGS[name])),
    sum('total', elapsedMs, 'since the JobSet was created'),
    kept,
  ];
}

/** `goodput 93.8 % until 2026-11-23T03:10:12Z`, or `goodput unknown: no checkpoint was reported`. */
function shareText(goodput: GoodputAt): string {
  if (goodput.share === null) return `goodput unknown: ${goodput.unknown ?? ''}`;
  return `goodput ${share(Math.min(goodput.share, goodput.share < 1 ? MAX_PART : 1), 1)}${untilText(goodput)}`;
}

function untilText({ judgedUntilMs }: GoodputAt): string {
  return judgedUntilMs === null
    ? ''
    : ` until ${new Date(judgedUntilMs).toISOString().slice(0, 19)}Z`;
}

/** How many ReplicatedJobs there are is not known here, so members are named with theirs. */
const MANY = 2;

/** One line for each node that members have left. */
export function avoidedLines(avoided: readonly AvoidedNode[]): readonly string[] {
  return avoided.map(({ node, time, reason, pod, worker }) =>
    printable(
      `avoids node ${node} since ${momentText(time)}: ${reason}; ${withShortNames(worker, MANY)} left it, Pod ${pod}`,
    ),
  );
}

function parts({ classes }: GoodputAt): readonly (readonly [GoodputClass, number])[] {
  const all = Object.entries(classes) as readonly (readonly [GoodputClass, number])[];
  return all.filter(([, ms]) => ms > 0).toSorted(([, a], [, b]) => b - a);
}

/** Small ones as in a timeline, so that a reader can compare them. */
export function duration(ms: number): string {
  return ms < MAX_SECONDS_MS ? seconds(ms) : humanDuration(ms);
}

const MAX_SECONDS_MS = 120_000;
const LEAST_PERCENT = 0.1;
/** A share below one that rounds to it would hide that time was lost. */
const MAX_PART = 0.999;

function share(ms: number, ofMs: number): string {
  // A JobSet may be over in the second in which it was created.
  const percent = ofMs === 0 ? 0 : (100 * ms) / ofMs;
  return percent > 0 && percent < LEAST_PERCENT ? `<${LEAST_PERCENT} %` : `${percent.toFixed(1)} %`;
}
