/** Decides by a Job's `successPolicy`. */
import { countMembers, parseIndexSet, sizeOfSet } from '@lockstep/kube/index-set.ts';
import type { Job, SuccessPolicy } from '@lockstep/kube/objects/job.ts';
import type { InterimCondition } from './conditions.ts';

/** Whether enough indexes, or the right ones, have succeeded for the Job to be complete. */
export function meetsSuccessPolicy(
  { spec }: Job,
  completed: ReadonlySet<number>,
): InterimCondition | undefined {
  const rules = spec.successPolicy?.rules ?? [];
  const index = rules.findIndex((rule) => isMet(rule, completed));
  if (index < 0) return undefined;
  const message = `Matched rules at index ${index}`;
  return { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message };
}

function isMet(
  { succeededIndexes, succeededCount }: SuccessPolicy['rules'][number],
  completed: ReadonlySet<number>,
): boolean {
  if (succeededIndexes === undefined) {
    return succeededCount !== undefined && completed.size >= succeededCount;
  }
  // The policy's set may be far larger than the set of succeeded indexes.
  const wanted = parseIndexSet(succeededIndexes) ?? [];
  return countMembers(wanted, completed) >= (succeededCount ?? sizeOfSet(wanted));
}
