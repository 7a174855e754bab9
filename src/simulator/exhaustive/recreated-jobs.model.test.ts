/** Every interleaving of a small group whose Jobs are recreated, and bugs to be found among them. */
import { describe, expect, it } from 'vitest';
import { BrokenInvariant } from '../../jobset/invariant.ts';
import type { FailurePolicy } from '../../jobset/jobset.ts';
import { plan } from '../../jobset/plan.ts';
import type { PropertyName } from '../properties.ts';
import { type Exploration, explore, type Transition } from './explorer.ts';
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

/** The planner throws when it reads the first restart. */
function throwing(error: Error): typeof plan {
  return (snapshot) => {
    if (snapshot.jobSet.status?.restarts === 1) throw error;
    return plan(snapshot);
  };
}

it('does not take an error of another kind for a contradiction of the operator', () => {
  const error = new TypeError('a bug');
  expect(() => explored({ plan: throwing(error) })).toThrow(error);
});

it('checks late requests, too', () => {
  const group = new RecreatedJobs({
    members: 2,
    strategy: 'BlockingRecreate',
    faults: 2,
    plan: under({ restartStrategy: 'Recreate' }),
  });
  let last: Transition | undefined;
  for (const text of [
    'Job 0: it fails',
    'Job 0: the operator sees its next state',
    'operator: plans a status on version 1',
    'the write on version 1 is stored as version 2',
    'operator: plans a status, Delete Job 0, Delete Job 1 on version 2',
    'the write on version 2 is stored as version 3',
    'Job 0: the request to delete it arrives',
    'Job 0: the operator sees its next state',
    'Job 0: it is gone',
    'Job 0: the operator sees its next state',
    'Job 1: the request to delete it arrives',
    'Job 1: the operator sees its next state',
    'operator: plans Create Job 0 on version 3',
    'operator: crashes and starts again',
    'Job 0: the late request to create it for attempt 1 arrives',
  ]) {
    const found = group.transitions(last?.to ?? group.initial);
    const texts = found.map((each) => each.text());
    expect(texts).toContain(text);
    last = found[texts.indexOf(text)];
  }
  expect(last?.violation?.property).toBe('One epoch runs at a time');
});

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
      bug: 'the planner finds a contradiction',
      property: 'The operator does not contradict itself',
      plan: throwing(new BrokenInvariant('found')),
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
