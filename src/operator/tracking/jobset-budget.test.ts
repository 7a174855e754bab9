import { memoryWeight } from '@lockstep/kube/json/memory-weight.ts';
import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { JobSetBudget } from './jobset-budget.ts';

const UNIT = 16_384;
const LIMITS = { taken: 16 * UNIT, grown: 24 * UNIT };
const NAMESPACES = ['a', 'b'] as const;

function jobSetOf(uid: string, units: number, hasBegun: boolean): Stored<JobSet> {
  const labels = { text: 'x'.repeat(units * UNIT) };
  const [namespace = ''] = uid.split('-');
  const of = storedJobSet({ replicatedJobs: [] }, { uid, name: uid, namespace, labels });
  return hasBegun ? { ...of, status: { restarts: 0 } } : of;
}

function weightOf({ metadata, spec }: Stored<JobSet>): number {
  return memoryWeight({ metadata, spec });
}

function sum(jobSets: Iterable<Stored<JobSet>>): number {
  return [...jobSets].reduce((all, jobSet) => all + weightOf(jobSet), 0);
}

function hasBegun({ status }: Stored<JobSet>): boolean {
  return status !== undefined;
}

/** A server, and what an informer behind the budget keeps of it. */
class World {
  readonly server = new Map<string, Stored<JobSet>>();
  kept = new Map<string, Stored<JobSet>>();
  budget = new JobSetBudget(LIMITS);

  list(order: readonly number[] = []): void {
    const names = [...this.server.keys()];
    const rank = new Map(names.map((name, at) => [name, order[at] ?? at]));
    names.sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0));
    this.budget.beginList();
    const passed = names.filter((of) => this.budget.offer(this.#of(of)));
    this.budget.endList();
    const kept = passed.filter((of) => !this.budget.leftOut.has(of));
    this.kept = new Map(kept.map((of) => [of, this.#of(of)]));
    for (const namespace of NAMESPACES) {
      if (sum(this.#in(namespace)) <= LIMITS.taken) this.#allKept(this.#in(namespace));
    }
  }

  /** A list that fails after some pages. */
  listInVain(count: number): void {
    this.budget.beginList();
    for (const jobSet of [...this.server.values()].slice(0, count)) this.budget.offer(jobSet);
  }

  set(uid: string, jobSet: Stored<JobSet>): void {
    this.server.set(uid, jobSet);
    const isKept = this.budget.offer(jobSet);
    if (isKept) this.kept.set(uid, jobSet);
    else this.kept.delete(uid);
    const there = this.#in(uid.slice(0, 1));
    const begun = there.filter(hasBegun);
    const fits = sum(there) <= LIMITS.taken;
    if (fits || (hasBegun(jobSet) && sum(begun) <= LIMITS.grown)) expect(isKept).toBe(true);
  }

  delete(uid: string): void {
    this.server.delete(uid);
    this.kept.delete(uid);
    this.budget.forget(uid);
  }

  /** A new process: what has begun is the same for all. */
  restart(order: readonly number[]): void {
    this.budget = new JobSetBudget(LIMITS);
    this.list(order);
    for (const namespace of NAMESPACES) {
      const begun = this.#in(namespace).filter(hasBegun);
      if (sum(begun) <= LIMITS.grown) this.#allKept(begun);
    }
  }

  /** It lists if one has room, and that brings one in: so no list comes of another. */
  takeMore(order: readonly number[]): void {
    const before = [...this.budget.leftOut.keys()];
    const hasRoom = before.some((of) => this.#hasRoom(this.#of(of)));
    expect(this.budget.takeMore()).toBe(hasRoom);
    if (!hasRoom) return;
    this.list(order);
    expect(before.some((of) => this.kept.has(of))).toBe(true);
  }

  #hasRoom(jobSet: Stored<JobSet>): boolean {
    const kept = this.#in(namespaceOf(jobSet.metadata)).filter(({ metadata }) =>
      this.kept.has(metadata.uid),
    );
    const weight = weightOf(jobSet);
    return hasBegun(jobSet)
      ? sum(kept.filter(hasBegun)) + weight <= LIMITS.grown
      : sum(kept) + weight <= LIMITS.taken;
  }

  check(before: ReadonlyMap<string, Stored<JobSet>>): void {
    for (const namespace of NAMESPACES) {
      const kept = [...this.kept.values()].filter(({ metadata }) => {
        return metadata.namespace === namespace;
      });
      const isNew = kept.some((jobSet) => {
        return !hasBegun(jobSet) && !before.has(jobSet.metadata.uid);
      });
      const most = isNew ? LIMITS.taken : LIMITS.taken + LIMITS.grown;
      expect(sum(kept)).toBeLessThanOrEqual(most);
    }
    expect([...this.kept.keys(), ...this.budget.leftOut.keys()].toSorted()).toEqual(
      [...this.server.keys()].toSorted(),
    );
  }

  #of(uid: string): Stored<JobSet> {
    const jobSet = this.server.get(uid);
    if (jobSet === undefined) throw new Error(`${uid} is not on the server`);
    return jobSet;
  }

  #in(namespace: string): readonly Stored<JobSet>[] {
    return [...this.server.values()].filter(({ metadata }) => metadata.namespace === namespace);
  }

  #allKept(jobSets: readonly Stored<JobSet>[]): void {
    for (const { metadata } of jobSets) expect([...this.kept.keys()]).toContain(metadata.uid);
  }
}

const uid = fc
  .record({ namespace: fc.constantFrom(...NAMESPACES), number: fc.nat(5) })
  .map(({ namespace, number }) => `${namespace}-${number}`);
const change = fc.record({ uid, units: fc.option(fc.nat(8)) });
const order = fc.array(fc.nat(99), { minLength: 16, maxLength: 16 });
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('set' as const), uid, units: fc.nat(8) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('begin' as const), uid }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), uid }) },
  fc.record({
    do: fc.constant('list' as const),
    missed: fc.array(change, { maxLength: 6 }),
    order,
    vain: fc.option(fc.nat(16)),
  }),
  fc.record({ do: fc.constant('restart' as const), order }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('takeMore' as const), order }) },
);

it('leaves out none that fits, and none that was kept, whatever happens', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const world = new World();
      world.list();
      for (const each of steps) {
        const before = world.kept;
        world.kept = new Map(before);
        const old = 'uid' in each ? world.server.get(each.uid) : undefined;
        if (each.do === 'set') {
          const isBegun = old !== undefined && hasBegun(old);
          world.set(each.uid, jobSetOf(each.uid, each.units, isBegun));
        } else if (each.do === 'begin') {
          // Only the operator makes it begin.
          const kept = world.kept.get(each.uid);
          if (kept !== undefined) world.set(each.uid, { ...kept, status: { restarts: 0 } });
        } else if (each.do === 'delete') world.delete(each.uid);
        else if (each.do === 'restart') world.restart(each.order);
        else if (each.do === 'takeMore') world.takeMore(each.order);
        else {
          if (each.vain !== null) world.listInVain(each.vain);
          for (const { uid: of, units } of each.missed) {
            const was = world.server.get(of);
            const isBegun = was !== undefined && hasBegun(was);
            if (units === null) world.server.delete(of);
            else world.server.set(of, jobSetOf(of, units, isBegun));
          }
          world.list(each.order);
        }
        if (each.do !== 'restart') {
          for (const [of, was] of before) {
            const now = world.server.get(of);
            const mayStay = now !== undefined && weightOf(now) <= weightOf(was);
            if (mayStay) expect([...world.kept.keys()]).toContain(of);
          }
        }
        world.check(each.do === 'restart' ? new Map() : before);
      }
    }),
    { numRuns: 500 },
  );
});

test('managed fields do not count', () => {
  const budget = new JobSetBudget(LIMITS);
  const { metadata, ...jobSet } = jobSetOf('a-1', 1, false);
  const managedFields = [
    {
      manager: 'x'.repeat(LIMITS.taken),
      operation: 'Update' as const,
      apiVersion: 'v1',
      fieldsType: 'FieldsV1' as const,
    },
  ];
  expect(budget.offer({ ...jobSet, metadata: { ...metadata, managedFields } })).toBe(true);
});

test('one that grows beyond the second limit goes, and comes back when it shrinks', () => {
  const budget = new JobSetBudget(LIMITS);
  expect(budget.offer(jobSetOf('a-1', 10, true))).toBe(true);
  expect(budget.offer(jobSetOf('a-2', 3, true))).toBe(true);
  expect(budget.offer(jobSetOf('a-2', 13, true))).toBe(true);
  expect(budget.offer(jobSetOf('a-2', 15, true))).toBe(false);
  expect(budget.takeMore()).toBe(false);
  expect(budget.offer(jobSetOf('a-2', 12, true))).toBe(true);
});

test('a list for want of room brings in what fits, though a larger one comes before it', () => {
  const budget = new JobSetBudget(LIMITS);
  const [large, small] = [jobSetOf('a-1', 13, false), jobSetOf('a-2', 3, false)];
  expect(budget.offer(jobSetOf('a-3', 14, true))).toBe(true);
  expect(budget.offer(large)).toBe(false);
  expect(budget.offer(small)).toBe(false);
  expect(budget.takeMore()).toBe(false);
  expect(budget.offer(jobSetOf('a-3', 12, true))).toBe(true);
  expect(budget.takeMore()).toBe(true);
  budget.beginList();
  for (const jobSet of [large, small, jobSetOf('a-3', 12, true)]) budget.offer(jobSet);
  budget.endList();
  expect([...budget.leftOut.keys()]).toEqual(['a-1']);
  expect(budget.takeMore()).toBe(false);
});
