/** Every interleaving of a small group, and bugs that have to be found among them. */
import { describe, expect, it } from 'vitest';
import { step } from '../../agent/barrier.ts';
import type { Marker } from '../../agent/marker.ts';
import { BrokenInvariant } from '../../jobset/invariant.ts';
import { plan } from '../../jobset/plan.ts';
import { MemberCounts } from '../../jobset/roster/members.ts';
import type { PropertyName } from '../properties.ts';
import { type Exploration, explore } from './explorer.ts';
import { type GroupOptions, SmallGroup } from './group.ts';

function explored(options: Partial<GroupOptions>): Exploration {
  return explore(new SmallGroup({ members: 2, mode: 'Supervisor', faults: 1, ...options }));
}

describe('every interleaving of a small group', () => {
  it.each<GroupOptions>([
    { members: 2, mode: 'Supervisor', faults: 1 },
    { members: 2, mode: 'Sidecar', faults: 1 },
    { members: 3, mode: 'Supervisor', faults: 1 },
    { members: 3, mode: 'Sidecar', faults: 1 },
    { members: 2, mode: 'Supervisor', faults: 2 },
    { members: 2, mode: 'Sidecar', faults: 2 },
    // An agent that starts too often for an epoch ends it.
    { members: 1, mode: 'Sidecar', faults: 3 },
    { members: 2, mode: 'Supervisor', faults: 2, maxRestarts: 1 },
    { members: 2, mode: 'Sidecar', faults: 2, maxRestarts: 1 },
  ])(
    'holds all properties with $members members, $mode, $faults faults, $maxRestarts restarts',
    (options) => {
      const { violation, isCut, states, trace } = explored(options);
      expect(violation, trace.join('\n')).toBeUndefined();
      expect(isCut).toBe(false);
      expect(states).toBeGreaterThan(1000);
    },
  );

  it('finds the same states when it does not fold symmetries', () => {
    const group = new SmallGroup({ members: 2, mode: 'Sidecar', faults: 1 });
    const folded = new Set<string>();
    const apart = explore({
      initial: group.initial,
      transitions: (state) => group.transitions(state),
      canonical: (state) => {
        folded.add(group.canonical(state).join());
        return state;
      },
      describe: (state) => group.describe(state),
      unrest: (state) => group.unrest(state),
    });
    expect(apart.violation).toBeUndefined();
    const { states } = explored({ mode: 'Sidecar' });
    expect(folded.size).toBe(states);
    expect(apart.states).toBeGreaterThan(states);
  });

  it('says that it has not visited all states', () => {
    const group = new SmallGroup({ members: 2, mode: 'Sidecar', faults: 1 });
    const { isCut, states } = explore(group, 100);
    expect(isCut).toBe(true);
    expect(states).toBeLessThan(200);
  });
});

/** Each Pod seems to announce the highest epoch that any of them announces. */
const RELEASES_EARLY: typeof plan = (snapshot) => {
  const members = new MemberCounts();
  const jobs = [...snapshot.members.jobsWithLivingPods()];
  const pods = jobs.flatMap((uid) => [...snapshot.members.podsOfJob(uid)]);
  const epoch = Math.max(...pods.map((pod) => pod.epoch ?? 0));
  for (const pod of pods) members.observe(epoch === 0 ? pod : { ...pod, epoch }, snapshot.nowMs);
  return plan({ ...snapshot, members });
};

const NEVER_ENDS: typeof plan = (snapshot) => {
  const made = plan(snapshot);
  const { deprecatedEpoch = 0 } = snapshot.jobSet.status ?? {};
  const isEnd = (made.status?.deprecatedEpoch ?? 0) > deprecatedEpoch;
  return isEnd ? { ...made, status: undefined } : made;
};

const CHARGES_TWICE: typeof plan = (snapshot) => {
  const made = plan(snapshot);
  const before = snapshot.jobSet.status?.inPlaceRestartsCountTowardsMax ?? 0;
  const charged = made.status?.inPlaceRestartsCountTowardsMax ?? 0;
  return charged > before
    ? { ...made, status: { ...made.status, inPlaceRestartsCountTowardsMax: charged + 1 } }
    : made;
};

/** The planner reads another budget than the JobSet has. */
function allowing(maxRestarts: number): typeof plan {
  return (snapshot) => {
    const { jobSet } = snapshot;
    const failurePolicy = { ...jobSet.spec.failurePolicy, maxRestarts };
    return plan({ ...snapshot, jobSet: { ...jobSet, spec: { ...jobSet.spec, failurePolicy } } });
  };
}

const FORGETS_THE_FAILURE: typeof plan = (snapshot) => {
  const { jobSet } = snapshot;
  const { conditions = [], terminalState, ...status } = jobSet.status ?? {};
  if (terminalState === undefined) return plan(snapshot);
  const others = conditions.filter(({ type }) => type !== 'Failed');
  return allowing(2)({
    ...snapshot,
    jobSet: { ...jobSet, status: { ...status, conditions: others } },
  });
};

const KEEPS_JOBS: typeof plan = (snapshot) => {
  const made = plan(snapshot);
  return { ...made, actions: made.actions.filter(({ kind }) => kind !== 'DeleteJob') };
};

/** Agents keep another marker than the barrier says. */
function keeping(kept: (marker: Marker) => Marker): typeof step {
  return (state, event) => {
    const { state: next, effects } = step(state, event);
    return {
      state: next,
      effects: effects.map((effect) =>
        effect.type === 'writeMarker' ? { ...effect, marker: kept(effect.marker) } : effect,
      ),
    };
  };
}

const RUNS_ON: typeof step = (state, event) =>
  event.type === 'snapshot' && state.stage.name === 'Running'
    ? { state: { ...state, known: event.snapshot }, effects: [] }
    : step(state, event);

const ANNOUNCES_BEFORE_THE_STOP: typeof step = (state, event) => {
  const made = step(state, event);
  const { known } = made.state;
  const isStop = made.effects.some(({ type }) => type === 'stopWorker');
  if (!isStop || known === undefined) return made;
  const announcement = { epoch: known.deprecated + 1, starts: 1 };
  return { ...made, effects: [...made.effects, { type: 'announce', announcement }] };
};

const LIFTS_AGAIN_AFTER_A_FAILURE: typeof step = (state, event) => {
  const made = step(state, event);
  if (event.type !== 'workerEnded' || event.end.how !== 'Exited') return made;
  return { ...made, effects: [...made.effects, { type: 'lift', epoch: event.end.epoch }] };
};

/** The planner throws when it reads the epoch of the first release. */
function throwing(error: Error): typeof plan {
  return (snapshot) => {
    if (snapshot.jobSet.status?.replicatedJobsStatus?.[0]?.syncedEpoch === 1) throw error;
    return plan(snapshot);
  };
}

it('does not take an error of another kind for a contradiction of the operator', () => {
  const error = new TypeError('a bug');
  expect(() => explored({ plan: throwing(error) })).toThrow(error);
});

describe('bugs that it has to find', () => {
  it.each<{ readonly bug: string; readonly property: PropertyName } & Partial<GroupOptions>>([
    {
      bug: 'a group is released before all members have announced',
      property: 'A release waits for all members',
      plan: RELEASES_EARLY,
    },
    { bug: 'a failure ends no epoch', property: 'No failure is lost', plan: NEVER_ENDS },
    {
      bug: 'each failure is charged twice',
      property: 'Each cause is charged once',
      plan: CHARGES_TWICE,
    },
    {
      bug: 'the marker does not keep the start of the worker',
      property: 'No slot starts two workers in one epoch',
      step: keeping((marker) => ({ ...marker, started: 0 })),
    },
    {
      bug: 'a barrier lifts again when its worker fails',
      property: 'No slot starts two workers in one epoch',
      step: LIFTS_AGAIN_AFTER_A_FAILURE,
    },
    {
      bug: 'the planner finds a contradiction',
      property: 'The operator does not contradict itself',
      plan: throwing(new BrokenInvariant('found')),
    },
    {
      bug: 'the marker does not keep the announcement',
      property: 'One restart for each burst',
      step: keeping((marker) => ({ ...marker, announced: 0 })),
    },
    {
      bug: 'a worker runs on while its epoch is over',
      property: 'A quiet group comes to rest',
      step: RUNS_ON,
    },
    {
      bug: 'a supervisor announces before its worker has ended',
      property: 'One epoch runs at a time',
      step: ANNOUNCES_BEFORE_THE_STOP,
    },
    {
      bug: 'a status is written without its version',
      property: 'Epochs never go back',
      takesOldWrites: true,
      faults: 2,
    },
    {
      bug: 'one restart too many',
      property: 'The budget holds',
      plan: allowing(2),
      maxRestarts: 1,
      faults: 2,
    },
    {
      bug: 'one restart too few',
      property: 'The budget holds',
      plan: allowing(0),
      maxRestarts: 1,
    },
    {
      bug: 'a failed JobSet restarts',
      property: 'Completed and Failed are final',
      plan: FORGETS_THE_FAILURE,
      maxRestarts: 0,
    },
    {
      bug: 'the Job of a failed JobSet stays',
      property: 'A quiet group comes to rest',
      plan: KEEPS_JOBS,
      maxRestarts: 0,
    },
  ])('$bug', ({ property, ...options }) => {
    const { violation, trace } = explored(options);
    expect(violation?.property, trace.join('\n')).toBe(property);
    expect(trace.at(-1)).toMatch(/^then: D = \d+, S = \d+(, Failed)?; member 0 /);
    expect(trace.length).toBeGreaterThan(5);
  });
});
