/**
 * Counts restarts after which a group made no progress. Members and their hub report progress, so it
 * may be unknown, and an unknown progress never counts against the group
 * (`docs/bad-nodes.md#stop-when-restarts-do-not-help`).
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { EndedProgress } from '../../jobset-status.ts';
import { maxRestartsWithoutProgress } from '../../policies/ladder-settings.ts';
import { type Facts, type GroupFacts, isOfGroup } from '../facts.ts';

/** `status.progress` after an end of the epoch for a failure; undefined: it is not limited. */
export function endedProgress(facts: GroupFacts, counted: boolean): EndedProgress | undefined {
  if (limitOf(facts) === undefined) return undefined;
  const { checkpoint, step, restartsWithoutProgress = 0 } = facts.status.progress ?? {};
  const now = reachedIn(facts);
  const hasCheckpoints = (checkpoint ?? now.checkpoint) !== undefined;
  const [before, after] = hasCheckpoints ? [checkpoint, now.checkpoint] : [step, now.step];
  const isHigher = after !== undefined && (before === undefined || after > before);
  const isUnknown = after === undefined;
  const count = isHigher || (isUnknown && counted) ? 0 : restartsWithoutProgress;
  const isWithout = counted && !isHigher && !isUnknown;
  return {
    ...defined({
      checkpoint: highest(checkpoint, now.checkpoint),
      step: highest(step, now.step),
    }),
    restartsWithoutProgress: count + (isWithout ? 1 : 0),
  };
}

/** Why a charged failure now is one too many without progress; undefined: it is allowed. */
export function lackOfProgress(facts: Facts): string | undefined {
  const limit = limitOf(facts);
  const after = isOfGroup(facts) ? endedProgress(facts, true) : undefined;
  if (limit === undefined || after === undefined) return undefined;
  if (after.restartsWithoutProgress <= limit) return undefined;
  const { checkpoint, step } = after;
  const where = checkpoint === undefined ? `step ${step ?? 0}` : `checkpoint ${checkpoint}`;
  return `${limit} ${limit === 1 ? 'restart' : 'restarts in a row'} did not lead beyond ${where}`;
}

function limitOf({ jobSet, lacks }: Facts): number | undefined {
  if (lacks?.has('progress') === true) return undefined;
  return maxRestartsWithoutProgress(jobSet.metadata.annotations);
}

/** The progress of the group, as far as it is known at the end of the epoch. */
function reachedIn({
  group,
  endsIn,
  reported,
}: GroupFacts): Pick<EndedProgress, 'checkpoint' | 'step'> {
  const { checkpoint, highestStep } = reported?.() ?? {};
  let step = highestStep;
  for (const { end } of endsIn?.(group.epoch) ?? []) {
    if (end.kind === 'Ended') step = highest(step, end.step);
  }
  return { ...defined({ checkpoint, step }) };
}

function highest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.max(a, b);
}
