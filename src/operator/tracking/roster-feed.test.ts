import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, test } from 'vitest';
import { BrokenInvariant, invariant } from '../../jobset/invariant.ts';
import { Roster } from '../../jobset/roster/roster.ts';
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
