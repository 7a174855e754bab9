/** What each restart cost, for readers of a JobSet's status. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { JobSet } from '../jobset.ts';
import type {
  AccountedClass,
  Course,
  HeldWork,
  RestartPhases,
  RestartRecord,
} from '../jobset-status.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { sumsOf } from './classes.ts';
import { endOf, extended, hasGap, partsBetween } from './course.ts';
import { reckonAt } from './goodput-at.ts';
import { isSoundCourse, isSoundGoodput } from './sound.ts';
import { stretchesOf } from './stretches.ts';

/** Milliseconds. A field is absent while it is unknown. */
export interface RestartCost {
  /** Work since the newest checkpoint, up to the end of the epoch. */
  readonly lostMs?: number;
  /** The silence of the worker whose hang ended the epoch. */
  readonly hungMs?: number;
  /** From the end of the epoch to the next release. */
  readonly restartingMs?: number;
  /** From the release to the first step. */
  readonly startingMs?: number;
  /** The sum of the known parts. */
  readonly totalMs: number;
}

/** The time after the end of an epoch, up to the end of the next one or to now. */
interface Aftermath {
  readonly course: Course;
  /** No more time of this class will be in it. */
  readonly isOver: { readonly restarting: boolean; readonly starting: boolean };
}

/** The costs by the epoch that ended, without epochs of unknown cost. */
export function restartCosts(
  jobSet: JobSet,
  nowMs: number,
  reported?: GroupProgress,
): ReadonlyMap<number, RestartCost> {
  const afterMs = new Map(
    aftermathsOf(jobSet, nowMs, reported).map((each) => [each.course.fromMs, each]),
  );
  const costs = new Map<number, RestartCost>();
  const { goodput } = jobSet.status ?? {};
  const held = goodput !== undefined && isSoundGoodput(goodput) ? goodput.held : undefined;
  for (const record of jobSet.status?.restartHistory ?? []) {
    const course = isSoundCourse(record.course) ? record.course : undefined;
    const cost = costOf(record, course, course && afterMs.get(endOf(course, held)), held);
    if (cost !== undefined) costs.set(record.epoch, cost);
  }
  return costs;
}

function aftermathsOf(
  jobSet: JobSet,
  nowMs: number,
  reported: GroupProgress | undefined,
): readonly Aftermath[] {
  const reckoning = reckonAt(jobSet, nowMs, reported);
  const stored = jobSet.status?.goodput;
  if (reckoning === undefined || stored === undefined) return [];
  const { goodput } = reckoning;
  const { phase, pendingMs, stepped } = goodput;
  const { known } = stretchesOf(jobSet, stored);
  return known.map(({ course }, i) => {
    if (i < known.length - 1) return { course, isOver: { restarting: true, starting: true } };
    const added = partsBetween(sumsOf(stored), sumsOf(goodput));
    const isPending = pendingMs !== undefined;
    return {
      course: extended(course, added, goodput.held),
      isOver: {
        restarting: phase !== 'Restarting' || isPending,
        starting: stepped === true || (phase !== 'Running' && !isPending),
      },
    };
  });
}

/** Undefined if nothing is known. */
function costOf(
  { phases }: RestartRecord,
  course: Course | undefined,
  after: Aftermath | undefined,
  held: HeldWork | undefined,
): RestartCost | undefined {
  const isHeld = course !== undefined && held !== undefined && hasGap(course, held);
  const known = defined({
    ...(course && !isHeld && lossesIn(sumsIn(course))),
    restartingMs: restartingIn(after) ?? downIn(phases),
    startingMs: after?.isOver.starting === true ? startingIn(sumsIn(after.course)) : undefined,
  });
  const all = Object.values(known);
  return all.length === 0 ? undefined : { ...known, totalMs: all.reduce((sum, ms) => sum + ms, 0) };
}

type PartSums = { readonly [C in AccountedClass]?: number };

function sumsIn({ parts }: Course): PartSums {
  const sums: { [C in AccountedClass]?: number } = {};
  for (const part of parts) sums[part.class] = (sums[part.class] ?? 0) + part.ms;
  return sums;
}

/** Work that is only `Running` may be lost or saved: that is unknown. */
function lossesIn({ Lost, Hung = 0, Running }: PartSums): Pick<RestartCost, 'lostMs' | 'hungMs'> {
  return { ...defined({ lostMs: Lost ?? (Running === undefined ? 0 : undefined) }), hungMs: Hung };
}

/** Undefined too if the epoch was the last one. */
function restartingIn(after: Aftermath | undefined): number | undefined {
  if (after === undefined || !after.isOver.restarting) return undefined;
  return after.course.parts.length === 0 ? undefined : (sumsIn(after.course).Restarting ?? 0);
}

function downIn({ announceMs, releaseMs }: RestartPhases = {}): number | undefined {
  if (announceMs === undefined || releaseMs === undefined) return undefined;
  return announceMs + releaseMs;
}

/** Undefined if the next epoch was never released, or its workers reported no step. */
function startingIn({ Starting, Productive, Lost, Hung }: PartSums): number | undefined {
  const hasWorked = (Productive ?? Lost ?? Hung) !== undefined;
  return Starting ?? (hasWorked ? 0 : undefined);
}
