/** What the plot of speeds draws. */
import { MAX_SLOWEST, type Sample } from '../../../messages/run.ts';

export interface Series {
  /** The Pod of a slow member; null: the median of the group. */
  readonly pod: string | null;
  /** Steps a second; null: it is not known. */
  readonly values: readonly (number | null)[];
}

export interface Plotted {
  /** Unix seconds. */
  readonly times: readonly number[];
  /** The group first. */
  readonly series: readonly Series[];
}

/** Samples further apart than this do not belong to one line. */
const LONGEST_GAP_MS = 30_000;

/** The group, and the members that were slowest last. */
export function plotted(samples: readonly Sample[]): Plotted {
  const last = samples.findLast(({ slowest }) => slowest.length > 0);
  const pods = (last?.slowest ?? []).slice(0, MAX_SLOWEST).map(({ pod }) => pod);
  const times: number[] = [];
  const group: (number | null)[] = [];
  const slow = pods.map((): (number | null)[] => []);
  let beforeMs: number | undefined;
  for (const { atMs, stepsPerSecond, slowest } of samples) {
    if (beforeMs !== undefined && atMs <= beforeMs) continue;
    if (beforeMs !== undefined && atMs - beforeMs > LONGEST_GAP_MS) {
      times.push((beforeMs + 1) / 1000);
      for (const values of [group, ...slow]) values.push(null);
    }
    times.push(atMs / 1000);
    group.push(stepsPerSecond);
    for (const [i, pod] of pods.entries()) {
      slow[i]?.push(slowest.find((each) => each.pod === pod)?.stepsPerSecond ?? null);
    }
    beforeMs = atMs;
  }
  const members = pods.map((pod, i): Series => ({ pod, values: slow[i] ?? [] }));
  return { times, series: [{ pod: null, values: group }, ...members] };
}

/** Samples at even distances, the newest first, for a table that can be read. */
export function tabled(samples: readonly Sample[], rows: number): readonly Sample[] {
  const step = Math.max(1, Math.ceil(samples.length / rows));
  return samples.filter((_, i) => (samples.length - 1 - i) % step === 0).toReversed();
}
