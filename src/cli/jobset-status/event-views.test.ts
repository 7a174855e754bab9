import type { Stored } from '@lockstep/kube/meta.ts';
import type { CoreEvent } from '@lockstep/kube/objects/event.ts';
import { describe, expect, it } from 'vitest';
import type { JobSet } from '../../jobset/jobset.ts';
import { eventChoice, eventViews } from './event-views.ts';

const JOB_SET = {
  metadata: {
    name: 'train',
    namespace: 'default',
    uid: 'own',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: {
    replicatedJobs: [
      { name: 'w', template: {} },
      { name: 'eval', template: {} },
    ],
  },
} as unknown as Stored<JobSet>;

let number = 0;
function event(
  kind: string,
  name: string,
  more: Partial<CoreEvent> & { readonly uid?: string } = {},
): Stored<CoreEvent> {
  number += 1;
  const { uid, ...rest } = more;
  return {
    metadata: { name: `e${number}`, namespace: 'default', uid: `e${number}`, resourceVersion: '1' },
    involvedObject: { kind, name, uid: uid ?? `uid-${name}` },
    type: 'Warning',
    reason: 'Failed',
    message: `of ${name}`,
    lastTimestamp: '2026-01-01T00:10:00Z',
    ...rest,
  } as unknown as Stored<CoreEvent>;
}

const chosen = (podUid: (name: string) => string | undefined = () => undefined) =>
  eventChoice({ jobSet: () => JOB_SET, podUid });

describe('of all Events of a namespace', () => {
  it.each([
    ['its own', event('JobSet', 'train', { uid: 'own' }), true],
    ['another JobSet', event('JobSet', 'train', { uid: 'other' }), false],
    ['a Job', event('Job', 'train-w-0'), true],
    ['a Job of another', event('Job', 'train-x-0'), false],
    ['a Job with more in its name', event('Job', 'train-w-0-1'), false],
    ['a Pod of an indexed Job', event('Pod', 'train-eval-3-12-x7k2p'), true],
    ['a Pod without index', event('Pod', 'train-w-0-x7k2p'), true],
    ['a Pod of a JobSet with a longer name', event('Pod', 'train-two-w-0-0-x7k2p'), false],
    ['a Pod of nobody', event('Pod', 'train-w'), false],
    ['another kind', event('Node', 'train-w-0'), false],
    [
      'what was before it',
      event('Job', 'train-w-0', { lastTimestamp: '2025-12-31T23:59:59Z' }),
      false,
    ],
  ])('decides on %s', (_, one, isKept) => {
    expect(chosen().keeps(one)).toBe(isKept);
  });

  it('knows members by their UID', () => {
    const { keeps } = chosen(() => 'uid-train-w-0-0-aaaaa');
    expect(keeps(event('Pod', 'train-w-0-0-aaaaa'))).toBe(true);
    expect(keeps(event('Pod', 'train-w-0-0-aaaaa', { uid: 'forged' }))).toBe(false);
  });

  it('keeps so many of Pods that its own have room', () => {
    const { keeps, forget } = chosen();
    const all = Array.from({ length: 6000 }, (_, i) => event('Pod', `train-w-0-${i}-x7k2p`));
    expect(all.filter(keeps)).toHaveLength(5000);
    expect(keeps(event('JobSet', 'train', { uid: 'own' }))).toBe(true);
    for (const each of all.slice(0, 2)) forget(each);
    expect(keeps(event('Job', 'train-w-0'))).toBe(true);
  });

  it('cuts what nobody reads', () => {
    const { transform } = chosen();
    const message = 'a'.repeat(5000);
    expect(transform(event('Job', 'train-w-0', { message })).message).toHaveLength(1024);
    expect(transform(event('Job', 'other', { message })).message).toBe('');
  });
});

describe('eventViews', () => {
  const told = (
    events: readonly Stored<CoreEvent>[],
  ): readonly (readonly [string, string, number])[] =>
    eventViews(events, 'own').map(({ about, message, count }) => [about, message, count]);

  it('tells the same of several Pods once', () => {
    const events = [
      event('Pod', 'p-0', { message: 'no room for p-0' }),
      event('Pod', 'p-1', { message: 'no room for p-1', count: 2 }),
      event('Pod', 'p-1', { message: 'no room for p-1', lastTimestamp: '2026-01-01T00:20:00Z' }),
      event('Pod', 'p-2', { message: 'no image' }),
    ];
    expect(told(events)).toEqual([
      ['2 Pods, such as p-1', 'no room for p-1', 3],
      ['Pod p-2', 'no image', 1],
      ['Pod p-1', 'no room for p-1', 1],
    ]);
  });

  it('tells each of the JobSet itself', () => {
    const own = { uid: 'own', message: 'restarted' };
    expect(told([event('JobSet', 'train', own), event('JobSet', 'train', own)])).toEqual([
      ['', 'restarted', 1],
      ['', 'restarted', 1],
    ]);
  });

  it('is bounded in count and in length', () => {
    const short = Array.from({ length: 700 }, () => event('JobSet', 'train', { uid: 'own' }));
    expect(told(short)).toHaveLength(500);
    const long = short.map((each) => ({ ...each, message: 'a'.repeat(5000) }));
    expect(told(long)).toHaveLength(256);
  });
});
