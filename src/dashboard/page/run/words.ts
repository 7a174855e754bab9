/** Numbers and classes of time as the view of a run shows them. */

import { humanDuration } from '@lockstep/kube/duration.ts';
import { CLASS_MEANINGS, classLabel, type GoodputClass } from '../../../jobset/goodput/classes.ts';

/** `412 ms`, `12.345 s`: nothing is rounded that was measured, up to a minute. */
export function exact(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(3)} s`;
  return rough(ms);
}

/** `412 ms`, `12.3 s`, `4m5s`, `2d3h` */
export function rough(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 119_950 ? `${(ms / 1000).toFixed(1)} s` : humanDuration(ms);
}

/** `12.3 %`; small shares do not pass for none. */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return '0 %';
  const share = (100 * part) / whole;
  return share > 0 && share < 0.1 ? '<0.1 %' : `${share.toFixed(1)} %`;
}

/** A second, a minute or an hour: the shortest in which there is a step. */
export function rateText(stepsPerSecond: number): string {
  if (stepsPerSecond <= 0) return '0 steps/s';
  const [seconds, unit] =
    stepsPerSecond >= 1 ? [1, 's'] : stepsPerSecond * 60 >= 1 ? [60, 'min'] : [3600, 'h'];
  const rate = stepsPerSecond * seconds;
  return `${rate < 10 ? rate.toFixed(2) : rate.toFixed(rate < 100 ? 1 : 0)} steps/${unit}`;
}

/** `1 restart`, `2 restarts` */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** In the order of the legend: what is good, what it cost, and what nobody asked of it. */
export const CLASSES: readonly GoodputClass[] = [
  'Productive',
  'Pending',
  'Running',
  'Starting',
  'Restarting',
  'Lost',
  'Hung',
  'Waiting',
  'Suspended',
];

/** What a class is called, and what it is for a reader who sees it for the first time. */
export function classWords(name: GoodputClass): readonly [label: string, meaning: string] {
  return [classLabel(name), CLASS_MEANINGS[name]];
}
