import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withMembers } from '../../../dashboard/messages/run.ts';
import type { MemberView } from '../../../jobset/view/status-view.ts';
import {
  type Members,
  type MembersMessage,
  memberChanges,
  membersMessages,
} from './member-changes.ts';

const MEMBER: MemberView = {
  label: '0',
  replicatedJob: 'w',
  job: 'a-w-0',
  index: '0',
  pod: 'a-w-0-0',
  node: 'node-0',
  isNodeLost: false,
  phase: 'Running',
  heldBy: null,
  epoch: 1,
  channel: 'Hub',
  lastCause: null,
  progress: { silentMs: 100, step: 5, firstStepMs: 10_000 },
};

const VIEW: fc.Arbitrary<Omit<MemberView, 'isKept' | 'ranks'>> = fc.record({
  label: fc.constantFrom('0', '1'),
  replicatedJob: fc.constant('w'),
  job: fc.constantFrom('j-0', 'j-1'),
  index: fc.constantFrom('0', '1', null),
  pod: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  node: fc.constantFrom('n-0', 'n-1', null),
  isNodeLost: fc.boolean(),
  phase: fc.constantFrom('Pending', 'Running', 'Terminating'),
  heldBy: fc.constantFrom(null, 'ErrImagePull'),
  epoch: fc.constantFrom(null, 1, 2),
  channel: fc.constantFrom('Hub' as const, 'API' as const, null),
  lastCause: fc.constantFrom(
    null,
    { epoch: 1 },
    { epoch: 1, exitCode: 3 },
    { epoch: 2, signal: 'SIGKILL' },
  ),
  progress: fc.option(
    fc.record(
      {
        silentMs: fc.constantFrom(0, 100, 60_000),
        step: fc.nat(3),
        stepsPerSecond: fc.constantFrom(0.5, 2),
        standbyDeaths: fc.constantFrom(
          { count: 1 },
          { count: 1, last: { exitCode: 1 } },
          { count: 2, last: 'NotReady' as const },
        ),
      },
      { requiredKeys: ['silentMs'] },
    ),
  ),
});

const MEMBERS: fc.Arbitrary<readonly MemberView[]> = fc.uniqueArray(
  fc.oneof(
    VIEW,
    VIEW.map((view) => ({ ...view, isKept: true as const })),
    fc.tuple(VIEW, fc.nat(2)).map(([view, first]) => ({ ...view, ranks: { first, count: 8 } })),
  ),
  { selector: ({ pod }) => pod },
);

it('a page that gets the changes knows what a new page gets', () => {
  fc.assert(
    fc.property(MEMBERS, MEMBERS, fc.constantFrom(0, 5000), (before, after, laterMs) => {
      const told = applied(new Map(), before, 0);
      const now = applied(told, after, laterMs);
      expect([...now.keys()].sort()).toEqual(after.map(({ pod }) => pod).sort());
      for (const view of after) {
        const { atMs, progress, ...rest } = now.get(view.pod) ?? fail();
        const { progress: expected, ...others } = view;
        expect(rest).toEqual(others);
        const passedMs = laterMs - atMs;
        const grown =
          progress === null ? null : { ...progress, silentMs: progress.silentMs + passedMs };
        if (expected === null) expect(grown).toBeNull();
        else {
          expect({ ...grown, silentMs: 0 }).toEqual({ ...expected, silentMs: 0 });
          expect(Math.abs((grown?.silentMs ?? 0) - expected.silentMs)).toBeLessThanOrEqual(1500);
        }
      }
    }),
  );
});

it('a page that comes later gets all of them', () => {
  fc.assert(
    fc.property(MEMBERS, (views) => {
      const known = applied(new Map(), views, 0);
      const later = membersMessages([...known.values()]).reduce<Members>(withMembers, new Map());
      expect(later).toEqual(known);
    }),
  );
});

it('time alone changes nothing', () => {
  const told = applied(new Map(), [MEMBER], 0);
  const progress = { silentMs: 5100, step: 5, firstStepMs: 15_000 };
  expect(memberChanges(told, [{ ...MEMBER, progress }], 5000)).toBeUndefined();
});

it('only what changed is sent', () => {
  const told = applied(new Map(), [MEMBER], 0);
  expect(memberChanges(told, [{ ...MEMBER, phase: 'Failed' }], 0)?.changed).toEqual([
    { pod: 'a-w-0-0', phase: 'Failed' },
  ]);
  const progress = { silentMs: 10, step: 6, firstStepMs: 11_000 };
  expect(memberChanges(told, [{ ...MEMBER, progress }], 1000)?.changed).toEqual([
    { pod: 'a-w-0-0', progress, atMs: 1000 },
  ]);
});

it('a page learns that a member is no longer kept', () => {
  const told = applied(new Map(), [{ ...MEMBER, isKept: true }], 0);
  const now = applied(told, [MEMBER], 0);
  expect(now.get(MEMBER.pod)).toStrictEqual({ ...MEMBER, atMs: 0 });
});

/** What a page knows that gets the changes as JSON, which has no undefined. */
function applied(told: Members, views: readonly MemberView[], atMs: number): Members {
  const message = memberChanges(told, views, atMs);
  if (message === undefined) return told;
  return withMembers(told, JSON.parse(JSON.stringify(message)) as MembersMessage);
}

function fail(): never {
  throw new Error('the member is missing');
}
