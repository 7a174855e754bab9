import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Informer, ResourceEventHandler } from '@lockstep/kube/runtime/informer/informer.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, test } from 'vitest';
import { BrokenInvariant, invariant } from '../../jobset/invariant.ts';
import { Roster } from '../../jobset/roster/roster.ts';
import type { RosterEvent } from '../../jobset/roster/roster-events.ts';
import { RosterFeed } from './roster-feed.ts';

const TRAIN = { namespace: 'default', name: 'train', uid: 'the-jobset' };

class BrokenRoster extends Roster {
  override apply(): never {
    invariant(false, () => 'Job train-w-0 has -1 Pods');
  }
}

test('nothing is decided from a roster that contradicts itself', () => {
  const broken: BrokenInvariant[] = [];
  const feed = new RosterFeed({
    roster: new BrokenRoster(() => undefined),
    clock: new VirtualClock(),
    broken: (error) => broken.push(error),
  });
  expect(feed.roster.of(TRAIN).streams).toBe(0);
  for (let i = 0; i < 2; i++) feed.tell({ kind: 'JobSetGone', jobSet: TRAIN });
  expect(broken).toHaveLength(1);
  expect(() => feed.roster).toThrow(BrokenInvariant);
  expect(() => feed.roster).toThrow('internal error, please report it: Job train-w-0 has -1 Pods');
});

test('a tenant that changes the owner of a succeeded Pod leaves no claim of the Pod behind', () => {
  const told: RosterEvent[] = [];
  class ListeningRoster extends Roster {
    override apply(event: RosterEvent): [] {
      told.push(event);
      return [];
    }
  }
  const roster = new ListeningRoster(() => undefined);
  const feed = new RosterFeed({ roster, clock: new VirtualClock(), broken: () => undefined });
  const handlers: ResourceEventHandler<PartialObjectMetadata>[] = [];
  const silent = { subscribe: () => undefined } as unknown as Informer<never>;
  const succeededPods = {
    subscribe: (handler: ResourceEventHandler<PartialObjectMetadata>) => handlers.push(handler),
  } as unknown as Informer<PartialObjectMetadata>;
  const others = { jobSets: silent, jobs: silent, services: silent, claims: silent };
  feed.follow({ ...others, livingPods: silent, succeededPods });
  const [old, pod] = [podOwnedBy('one'), podOwnedBy('another')];
  handlers[0]?.updated?.(pod, old);
  expect(told).toEqual([
    { kind: 'SuccessGone', pod: old },
    { kind: 'SuccessSeen', pod },
  ]);
});

function podOwnedBy(uid: string): Stored<PartialObjectMetadata> {
  const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'train-w-0', uid, controller: true };
  const version = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  const metadata = { name: 'pod', namespace: 'default', uid: 'pod', ...version };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, ownerReferences: [job] } };
}
