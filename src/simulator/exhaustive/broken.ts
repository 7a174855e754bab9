/** Which property of the protocol a step of a small group breaks (`docs/design/properties.md`). */
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { isTrue } from '../../jobset/status/conditions.ts';
import { epochsOf } from '../../jobset/status/epochs.ts';
import type { PropertyName, Violation } from '../properties.ts';
import type { Member } from './member.ts';

/** Undefined: none. A worker starts in the slot, in that epoch. */
export function brokenByStart(
  members: readonly Member[],
  slot: number,
  epoch: number,
): Violation | undefined {
  for (const [other, { worker }] of members.entries()) {
    if (other === slot || worker === 0 || worker === epoch) continue;
    const starting = `member ${slot} starts in epoch ${epoch}`;
    const detail = `${starting} while member ${other} runs in epoch ${worker}`;
    return violation('One epoch runs at a time', detail);
  }
  return undefined;
}

/** The status `next` is stored in the place of `old`. `mayEnd` are epochs that something befell. */
export function brokenByWrite(
  old: JobSetStatus,
  next: JobSetStatus,
  mayEnd: readonly number[],
  members: readonly Member[],
  maxRestarts: number,
): Violation | undefined {
  const [before, after] = [epochsOf(old), epochsOf(next)];
  const ended = `D from ${before.deprecated} to ${after.deprecated}`;
  const detail = `${ended}, S from ${before.synced} to ${after.synced}`;
  const isLower = after.deprecated < before.deprecated || after.synced < before.synced;
  if (isLower || after.synced > after.deprecated + 1) {
    return violation('Epochs never go back', detail);
  }
  const charge = chargesOf(next) - chargesOf(old);
  const ends = after.deprecated - before.deprecated;
  if (isOver(old) && (!isOver(next) || ends > 0 || after.synced > before.synced)) {
    return violation('Completed and Failed are final', detail);
  }
  if (ends > 1) return violation('One restart for each burst', detail);
  if (charge !== ends) return violation('Each cause is charged once', `${charge} for ${detail}`);
  const overspent = brokenByBudget(old, next, maxRestarts);
  if (overspent !== undefined) return overspent;
  if (isOver(next) && !isOver(old)) return brokenByEnd(next, before.deprecated + 1, mayEnd);
  if (ends > 0) return brokenByEnd(next, after.deprecated, mayEnd);
  return after.synced > before.synced ? brokenByRelease(after.synced, members) : undefined;
}

function brokenByEnd(
  { restartHistory = [] }: JobSetStatus,
  epoch: number,
  mayEnd: readonly number[],
): Violation | undefined {
  if (!mayEnd.includes(epoch)) {
    return violation('One restart for each burst', `nothing befell epoch ${epoch}`);
  }
  return restartHistory[0]?.witness === undefined
    ? violation('Every restart has a witness', `the end of epoch ${epoch} has none`)
    : undefined;
}

function brokenByRelease(epoch: number, members: readonly Member[]): Violation | undefined {
  for (const [slot, { reached, worker }] of members.entries()) {
    const release = `epoch ${epoch} is released, and member ${slot}`;
    if (reached < epoch) {
      const detail = `${release} has announced ${reached} at most`;
      return violation('A release waits for all members', detail);
    }
    if (worker > 0 && worker < epoch) {
      return violation('One epoch runs at a time', `${release} runs in epoch ${worker}`);
    }
  }
  return undefined;
}

/** Nothing but a fault can happen any more. `mustEnd` are epochs in which workers were lost. */
export function brokenByRest(
  status: JobSetStatus,
  [lost]: readonly number[],
  members: readonly Member[],
): Violation | undefined {
  if (lost !== undefined) {
    return violation('No failure is lost', `a worker was lost in epoch ${lost}, which is not over`);
  }
  const { deprecated, synced } = epochsOf(status);
  if (isOver(status) && members.every(({ stored }) => stored === null)) return undefined;
  const isRunning = members.every(({ worker }) => worker === deprecated + 1);
  if (synced === deprecated + 1 && isRunning) return undefined;
  const workers = members.map(({ worker }) => worker).join(', ');
  const detail = `nothing happens any more, and workers run in epochs ${workers} (0: none)`;
  return violation('A quiet group comes to rest', detail);
}

/** `next` is stored in the place of `old`. `failed` are attempts in which a Job has failed. */
export function brokenByRestart(
  old: JobSetStatus,
  next: JobSetStatus,
  { failed, maxRestarts }: { readonly failed: readonly number[]; readonly maxRestarts: number },
): Violation | undefined {
  const [before, after] = [old.restarts ?? 0, next.restarts ?? 0];
  const charges = next.restartsCountTowardsMax ?? 0;
  const charge = charges - (old.restartsCountTowardsMax ?? 0);
  const detail = `restarts from ${before} to ${after}, ${charges} are charged`;
  if (isOver(old) && !isOver(next)) return violation('Completed and Failed are final', detail);
  if (after < before) return violation('Epochs never go back', detail);
  if (after > before + 1) return violation('One restart for each burst', detail);
  if (charge !== after - before) return violation('Each cause is charged once', detail);
  const overspent = brokenByBudget(old, next, maxRestarts);
  if (overspent !== undefined) return overspent;
  const fails = isOver(next) && !isOver(old);
  return (fails || after > before) && !failed.includes(before)
    ? violation('One restart for each burst', `no Job failed in attempt ${before}`)
    : undefined;
}

/** A JobSet restarts no more often than it may, and fails no sooner. */
function brokenByBudget(
  old: JobSetStatus,
  next: JobSetStatus,
  maxRestarts: number,
): Violation | undefined {
  const charges = chargesOf(next);
  const failsEarly = isOver(next) && !isOver(old) && charges < maxRestarts;
  if (charges <= maxRestarts && !failsEarly) return undefined;
  const detail = `${charges} of ${maxRestarts} restarts are charged`;
  return violation('The budget holds', failsEarly ? `${detail}, and the JobSet fails` : detail);
}

function isOver({ conditions }: JobSetStatus): boolean {
  return isTrue(conditions, 'Failed');
}

export function violation(property: PropertyName, detail: string): Violation {
  return { property, detail };
}

function chargesOf(status: JobSetStatus): number {
  return (status.restartsCountTowardsMax ?? 0) + (status.inPlaceRestartsCountTowardsMax ?? 0);
}
