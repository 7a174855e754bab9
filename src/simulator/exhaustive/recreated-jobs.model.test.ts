/** Every interleaving of a small group whose Jobs are recreated, and bugs to be found among them. */
import { describe, expect, it } from 'vitest';
import type { FailurePolicy } from '../../jobset/jobset.ts';
import { plan } from '../../jobset/plan.ts';
import type { PropertyName } from '../properties.ts';
import { type Exploration, explore } from './explorer.ts';
import { RecreatedJobs, type RecreatedOptions } from './recreated-jobs.ts';

function explored(options: Partial<RecreatedOptions>): Exploration {
  return explore(new RecreatedJobs({ members: 2, strategy: 'Recreate', faults: 2, ...options }));
}

describe('every interleaving of a small group whose Jobs are recreated', () => {
  it.each<RecreatedOptions>([
    { members: 2, strategy: 'Recreate', faults: 2 },
    { members: 2, strategy: 'BlockingRecreate', faults: 2 },
    { members: 3, strategy: 'Recreate', faults: 1 },
    { members: 3, strategy: 'BlockingRecreate', faults: 1 },
  ])('holds all properties with $members Jobs, $strategy, $faults faults', (options) => {
    const { violation, isCut, states, trace } = explored(options);
    expect(violation, trace.join('\n')).toBeUndefined();
    expect(isCut).toBe(false);
    expect(states).toBeGreaterThan(500);
  });
});

/** The planner reads another failure policy than the JobSet has. */
function under(change: FailurePolicy): typeof plan {
  return (snapshot) => {
    const { jobSet } = snapshot;
    const failurePolicy = { ...jobSet.spec.failurePolicy, ...change };
    return plan({ ...snapshot, jobSet: { ...jobSet, spec: { ...jobSet.spec, failurePolicy } } });
  };
}

const DELETES_NOTHING: typeof plan = (snapshot) => {
  const made = plan(snapshot);
  return { ...made, actions: made.actions.filter(({ kind }) => kind !== 'DeleteJob') };
};

const CHARGES_TWICE: typeof plan = (snapshot) => {
  const made = plan(snapshot);
  const before = snapshot.jobSet.status?.restartsCountTowardsMax ?? 0;
  const charged = made.status?.restartsCountTowardsMax ?? 0;
  return charged > before
    ? { ...made, status: { ...made.status, restartsCountTowardsMax: charged + 1 } }
    : made;
};

describe('bugs that it has to find', () => {
  it.each<{ readonly bug: string; readonly property: PropertyName } & Partial<RecreatedOptions>>([
    { bug: 'one restart too many', property: 'The budget holds', plan: under({ maxRestarts: 2 }) },
    { bug: 'one restart too few', property: 'The budget holds', plan: under({ maxRestarts: 0 }) },
    {
      bug: 'a restart is charged twice',
      property: 'Each cause is charged once',
      plan: CHARGES_TWICE,
    },
    {
      bug: 'a new Job does not wait for the old ones',
      property: 'One epoch runs at a time',
      strategy: 'BlockingRecreate',
      plan: under({ restartStrategy: 'Recreate' }),
    },
    {
      bug: 'old Jobs are not deleted',
      property: 'A quiet group comes to rest',
      plan: DELETES_NOTHING,
    },
  ])('$bug', ({ property, ...options }) => {
    const { violation, trace } = explored(options);
    expect(violation?.property, trace.join('\n')).toBe(property);
    expect(trace.at(-1)).toMatch(/^then: \d restarts.*; Job 0 of attempt \d /);
  });
});
