/**
 * What no write of a status does, whatever the steps of a plan decide. If one would release workers
 * or charge restarts wrongly, its plan fails. Then the operator writes nothing, logs the error and
 * tries again. The write is compared with the status that the plan has read, so a status that
 * another client wrote breaks no rule (`docs/design/properties.md#safety`).
 */
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { mayRun } from '../epoch/in-place-restart.ts';
import { invariant } from '../invariant.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { countedRestarts } from '../policies/restart-budget.ts';
import type { Facts, GroupFacts } from './facts.ts';

const COUNTERS = [
  'restarts',
  'restartsCountTowardsMax',
  'inPlaceRestarts',
  'inPlaceRestartsCountTowardsMax',
] as const;

export function assertInvariants(
  { jobSet, status: before, group }: Pick<Facts, 'jobSet' | 'status' | 'group'>,
  after: JobSetStatus,
): void {
  const { deprecatedEpoch: ended } = before;
  // The first status, or one with upstream's attempts, has no epochs to compare with.
  if (ended === undefined && after.deprecatedEpoch !== undefined) return;
  const assert = (holds: boolean, field: string, from = 0, to = 0): void =>
    invariant(
      holds,
      () => `the plan for ${keyOf(jobSet)} would change ${field} from ${from} to ${to}`,
    );
  for (const field of COUNTERS) {
    const [from = 0, to = 0] = [before[field], after[field]];
    assert(to >= from, field, from, to);
  }
  const ends = (after.deprecatedEpoch ?? 0) - (ended ?? 0);
  assert(ends === 0 || ends === 1, 'deprecatedEpoch', ended, after.deprecatedEpoch);
  const [charged, charges] = [countedRestarts(before), countedRestarts(after)];
  const mayCharge = group === undefined || ends === 1 ? 1 : 0;
  assert(charges - charged <= mayCharge, 'the counted restarts', charged, charges);
  if (ended === undefined) return;
  const released = new Map(
    before.replicatedJobsStatus?.map(({ name, syncedEpoch }) => [name, syncedEpoch]),
  );
  for (const { name, syncedEpoch: to = 0 } of after.replicatedJobsStatus ?? []) {
    const from = released.get(name) ?? 0;
    const isReleased = to === ended + 1 && ends === 0;
    assert(to === from || (to > from && isReleased), `syncedEpoch of ${name}`, from, to);
  }
}

/** The counts of Pods that let these ReplicatedJobs run still hold when their release is decided. */
export function assertGathered({ jobSet, group }: GroupFacts, names: readonly string[]): void {
  const stages = group.stages.filter(({ name }) => names.includes(name));
  invariant(
    mayRun(group, stages, group.members),
    () =>
      `the plan for ${keyOf(jobSet)} would release epoch ${group.epoch} to ${names.join(', ')}, whose members have not all announced it`,
  );
}

function keyOf({ metadata }: Facts['jobSet']): string {
  return `${namespaceOf(metadata)}/${metadata.name}`;
}
