/**
 * Plays random events of Pods, Jobs and agents, and counts again from the world after each of them,
 * in the plainest way that there is.
 */

import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { membershipOf, type Owner } from '../membership.ts';
import type { Members } from './members.ts';
import { Roster } from './roster.ts';
import type { RosterEvent } from './roster-events.ts';

const NAMESPACE = 'default';
const JOBSETS = ['blue', 'red'] as const;
const JOBS = ['blue-0', 'blue-1', 'red-0', 'free'] as const;
const PODS = [0, 1, 2, 3, 4, 5] as const;
const EPOCHS = [1, 2, 3] as const;
const SUSPENDED = [{ type: 'Suspended', status: 'True' }] as const;

const AT_NO_TIME = { wallMs: 0, monotonicMs: 0 };

interface PodState {
  readonly pod: number;
  readonly job: (typeof JOBS)[number];
  /** Whose labels it has; undefined: none. */
  readonly labels: (typeof JOBSETS)[number] | undefined;
  readonly slot: number | undefined;
  readonly epoch: number | undefined;
  readonly notice: number | undefined;
  readonly isEnding: boolean;
}

type Step =
  | { readonly kind: 'PodSeen'; readonly state: PodState }
  | { readonly kind: 'PodGone' | 'PodSucceeded' | 'SuccessGone'; readonly pod: number }
  | {
      readonly kind: 'JobSeen';
      readonly job: (typeof JOBS)[number];
      readonly owner: (typeof JOBSETS)[number] | undefined;
      readonly isSuspended: boolean;
    }
  | { readonly kind: 'JobGone'; readonly job: (typeof JOBS)[number] }
  | { readonly kind: 'Announced'; readonly pod: number; readonly epoch: number }
  | { readonly kind: 'Noticed'; readonly pod: number; readonly epoch: number }
  | { readonly kind: 'Watched'; readonly jobSet: (typeof JOBSETS)[number]; readonly epoch: number };

const STATES: fc.Arbitrary<PodState> = fc
  .record({
    pod: fc.constantFrom(...PODS),
    labels: fc.constantFrom(...JOBSETS),
    slot: fc.constantFrom(0, 1, undefined),
    epoch: fc.constantFrom(...EPOCHS, undefined),
    notice: fc.constantFrom(1, 2, undefined, undefined),
    isEnding: fc.boolean(),
  })
  // The controller of a Pod never changes, so its Job follows from its number.
  .map((state) => ({ ...state, job: JOBS[state.pod % JOBS.length] ?? 'free' }))
  .map((state) => (state.job === 'free' ? { ...state, labels: undefined } : state));

const STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: STATES.map((state) => ({ kind: 'PodSeen' as const, state })) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('PodGone' as const, 'PodSucceeded' as const, 'SuccessGone' as const),
      pod: fc.constantFrom(...PODS),
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        kind: fc.constant('JobSeen' as const),
        job: fc.constantFrom(...JOBS),
        owner: fc.constantFrom(...JOBSETS),
        isSuspended: fc.boolean(),
      })
      .map((step) => (step.job === 'free' ? { ...step, owner: undefined } : step)),
  },
  fc.record({ kind: fc.constant('JobGone' as const), job: fc.constantFrom(...JOBS) }),
  fc.record({
    kind: fc.constantFrom('Announced' as const, 'Noticed' as const),
    pod: fc.constantFrom(...PODS),
    epoch: fc.constantFrom(...EPOCHS),
  }),
  fc.record({
    kind: fc.constant('Watched' as const),
    jobSet: fc.constantFrom(...JOBSETS),
    epoch: fc.constantFrom(...EPOCHS),
  }),
);

function ownerNamed(name: (typeof JOBSETS)[number]): Owner {
  return { namespace: NAMESPACE, name, uid: `uid-of-${name}` };
}

function jobOf({ job, owner, isSuspended }: Step & { kind: 'JobSeen' }): Stored<Job> {
  const reference = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', controller: true };
  const ownerReferences =
    owner === undefined ? [] : [{ ...reference, name: owner, uid: `uid-of-${owner}` }];
  const made = storedJob(job, 'w', { pods: 2, metadata: { ownerReferences } });
  return isSuspended ? { ...made, status: { ...made.status, conditions: SUSPENDED } } : made;
}

function podOf(state: PodState): Stored<PartialObjectMetadata> {
  const { pod, job, labels, slot, epoch, notice, isEnding } = state;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${job}-${pod}`,
      namespace: NAMESPACE,
      uid: `pod-${pod}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels:
        labels === undefined
          ? {}
          : {
              'jobset.sigs.k8s.io/jobset-name': labels,
              'jobset.sigs.k8s.io/jobset-uid': `uid-of-${labels}`,
            },
      annotations: {
        ...(slot === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': `${slot}` }),
        ...(epoch === undefined ? {} : { 'jobset.sigs.k8s.io/epoch': `${epoch}` }),
        ...(notice === undefined ? {} : { 'lockstep/notice': `${notice}` }),
      },
      // The Job controller has not released it, so a success counts.
      finalizers: ['batch.kubernetes.io/job-tracking'],
      ...(isEnding ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: job, uid: `uid-of-${job}`, controller: true },
      ],
    },
  };
}

/** What is so, as the events have shown it. */
class World {
  readonly jobs = new Map<string, Stored<Job>>();
  readonly living = new Map<number, PodState>();
  readonly succeeded = new Map<number, PodState>();
  readonly said = new Map<number, { epoch?: number; notice?: number }>();
  /** Successes that count, as `job/slot`; a success of an unknown Job waits for it. */
  readonly counted = new Set<string>();
  readonly waiting = new Map<number, PodState>();

  jobSetOf(state: PodState): string | undefined {
    const found = membershipOf(podOf(state), (uid) => this.jobs.get(uid));
    return found.kind === 'Stranger' ? undefined : found.jobSet.name;
  }

  isMember(state: PodState): boolean {
    return membershipOf(podOf(state), (uid) => this.jobs.get(uid)).kind === 'Member';
  }

  forgetSuccesses(job: string): void {
    for (const key of this.counted) if (key.startsWith(`${job}/`)) this.counted.delete(key);
  }

  count(state: PodState): void {
    const key = `${state.job}/${state.slot ?? `pod-${state.pod}`}`;
    if (this.isMember(state)) this.counted.add(key);
    else if (this.jobSetOf(state) !== undefined) this.waiting.set(state.pod, state);
  }
}

/** Everything that plans ask of the counts, in an order of its own. */
function seen(members: Members): unknown {
  const names = (pods: Iterable<{ uid: string }>): string[] =>
    [...pods].map(({ uid }) => uid).toSorted();
  return {
    announced: EPOCHS.map((epoch) => names(members.announcing(epoch))),
    numbers: EPOCHS.map((epoch) => members.countAnnouncing(epoch)),
    epochs: EPOCHS.filter((epoch) => new Set(members.announcedEpochs()).has(epoch)),
    noticing: EPOCHS.map((epoch) => names(members.noticing(epoch))),
    ending: names(members.ending()),
    withLiving: [...members.jobsWithLivingPods()].toSorted(),
    jobs: JOBS.map((job) => {
      const counts = members.ofJob(`uid-of-${job}`);
      return (
        counts && {
          live: counts.live,
          terminating: counts.terminating,
          doubled: counts.doubledSlots,
          liveAt: EPOCHS.map((epoch) => counts.liveAt(epoch)),
          below: EPOCHS.map((epoch) => counts.below(epoch)),
          other: EPOCHS.map((epoch) => counts.otherThan(epoch)),
          filled: [0, 1].map((slot) => counts.hasPodIn(`${slot}`)),
          beyond: counts.hasLivePodBeyond(1),
          succeeded: [...counts.succeeded].toSorted(),
        }
      );
    }),
  };
}

function recounted(world: World, jobSet: string): unknown {
  const pods = [...world.living.values()]
    .filter((state) => world.jobSetOf(state) === jobSet)
    .map((state) => {
      const said = world.said.get(state.pod);
      const epoch = Math.max(state.epoch ?? 0, said?.epoch ?? 0);
      const notice = Math.max(state.notice ?? 0, said?.notice ?? 0);
      return { ...state, uid: `pod-${state.pod}`, epoch, notice };
    });
  const live = pods.filter(({ isEnding }) => !isEnding);
  const names = (some: readonly { uid: string }[]): string[] =>
    some.map(({ uid }) => uid).toSorted();
  return {
    announced: EPOCHS.map((epoch) => names(live.filter((pod) => pod.epoch === epoch))),
    numbers: EPOCHS.map((epoch) => live.filter((pod) => pod.epoch === epoch).length),
    epochs: EPOCHS.filter((epoch) => live.some((pod) => pod.epoch === epoch)),
    noticing: EPOCHS.map((epoch) => names(live.filter((pod) => pod.notice === epoch))),
    ending: names(pods.filter(({ isEnding }) => isEnding)),
    withLiving: JOBS.filter((job) => pods.some((pod) => pod.job === job))
      .map((job) => `uid-of-${job}`)
      .toSorted(),
    jobs: JOBS.map((job) => {
      const all = pods.filter((pod) => pod.job === job);
      const owner = world.jobs.get(`uid-of-${job}`)?.metadata.ownerReferences?.[0]?.name;
      const succeeded =
        owner === jobSet
          ? [...world.counted].filter((key) => key.startsWith(`${job}/`)).map(slotIn)
          : [];
      if (all.length === 0 && succeeded.length === 0) return undefined;
      const up = all.filter(({ isEnding }) => !isEnding);
      return {
        live: up.length,
        terminating: all.length - up.length,
        doubled: [0, 1].filter((slot) => up.filter((pod) => pod.slot === slot).length > 1).length,
        liveAt: EPOCHS.map((epoch) => up.filter((pod) => pod.epoch === epoch).length),
        below: EPOCHS.map(
          (epoch) => all.filter((pod) => pod.epoch > 0 && pod.epoch < epoch).length,
        ),
        other: EPOCHS.map((epoch) => all.filter((pod) => pod.epoch !== epoch).length),
        filled: [0, 1].map((slot) => all.some((pod) => pod.slot === slot)),
        beyond: up.some((pod) => pod.slot !== undefined && pod.slot >= 1),
        succeeded: succeeded.toSorted(),
      };
    }),
  };
}

function slotIn(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

/** The world changes, and the roster gets the events that the operator would pass on. */
function play(step: Step, world: World, roster: Roster): void {
  const tell = (event: RosterEvent): unknown => roster.apply(event, AT_NO_TIME);
  switch (step.kind) {
    case 'PodSeen': {
      const { state } = step;
      if (world.succeeded.has(state.pod)) return;
      world.living.set(state.pod, state);
      tell({ kind: 'PodSeen', pod: podOf(state) });
      return;
    }
    case 'PodGone':
    case 'PodSucceeded': {
      const state = world.living.get(step.pod);
      if (state === undefined) return;
      world.living.delete(step.pod);
      world.said.delete(step.pod);
      tell({ kind: 'PodGone', pod: podOf(state) });
      if (step.kind === 'PodGone') return;
      world.succeeded.set(step.pod, state);
      world.count(state);
      tell({ kind: 'PodSucceeded', pod: podOf(state) });
      return;
    }
    case 'SuccessGone': {
      const state = world.succeeded.get(step.pod);
      if (state === undefined) return;
      world.succeeded.delete(step.pod);
      world.waiting.delete(step.pod);
      tell({ kind: 'SuccessGone', pod: podOf(state) });
      return;
    }
    case 'JobSeen': {
      const uid = `uid-of-${step.job}`;
      const old = world.jobs.get(uid);
      const job = jobOf(step);
      world.jobs.set(uid, job);
      const hasMoved =
        old?.metadata.ownerReferences?.[0]?.uid !== job.metadata.ownerReferences?.[0]?.uid;
      if (old !== undefined && hasMoved) {
        world.forgetSuccesses(step.job);
        tell({ kind: 'JobGone', job: old });
      }
      for (const [pod, state] of world.waiting) {
        if (state.job !== step.job) continue;
        world.waiting.delete(pod);
        world.count(state);
      }
      if (step.isSuspended) world.forgetSuccesses(step.job);
      tell({ kind: 'JobSeen', job });
      return;
    }
    case 'JobGone': {
      const uid = `uid-of-${step.job}`;
      const old = world.jobs.get(uid);
      if (old === undefined) return;
      world.jobs.delete(uid);
      world.forgetSuccesses(step.job);
      tell({ kind: 'JobGone', job: old });
      return;
    }
    case 'Announced': {
      const state = world.living.get(step.pod);
      const before = world.said.get(step.pod);
      if (state !== undefined && world.jobSetOf(state) !== undefined) {
        if (step.epoch >= (before?.epoch ?? 0)) {
          world.said.set(step.pod, { ...before, epoch: step.epoch });
        }
      }
      const announcement = { epoch: step.epoch, starts: 1 };
      tell({ kind: 'Announced', podUid: `pod-${step.pod}`, announcement });
      return;
    }
    case 'Noticed': {
      const state = world.living.get(step.pod);
      if (state !== undefined && world.jobSetOf(state) !== undefined) {
        const before = world.said.get(step.pod);
        const notice = Math.max(before?.notice ?? 0, step.epoch);
        world.said.set(step.pod, { ...before, notice });
      }
      tell({ kind: 'Noticed', podUid: `pod-${step.pod}`, epoch: step.epoch });
      return;
    }
    case 'Watched':
      roster.watch(ownerNamed(step.jobSet), {
        epoch: step.epoch,
        slots: 2,
        jobs: new Set(JOBS.map((job) => `uid-of-${job}`)),
        neverRun: new Set(),
      });
      return;
  }
}

describe('the counts of all groups', () => {
  it('are what a recount of the world finds, after every event', () => {
    fc.assert(
      fc.property(fc.array(STEPS, { maxLength: 60, size: 'max' }), (steps) => {
        const world = new World();
        const roster = new Roster((uid) => world.jobs.get(uid));
        for (const step of steps) {
          play(step, world, roster);
          for (const jobSet of JOBSETS) {
            expect(seen(roster.of(ownerNamed(jobSet)).members)).toEqual(recounted(world, jobSet));
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
