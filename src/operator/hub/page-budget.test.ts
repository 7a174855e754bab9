import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { PageAnswer } from '@lockstep/kube/runtime/ports/stream.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { PageBudget } from './page-budget.ts';

const SMALL = Buffer.from('[]');
const LARGE = Buffer.alloc(6 * 1024 * 1024);
const BUSY = {
  kind: 'Refuse',
  status: 429,
  reason: 'members in namespace greedy ask too often',
  retryAfterSeconds: 1,
};

let clock: VirtualClock;
let budget: PageBudget;
beforeEach(() => {
  clock = new VirtualClock();
  budget = new PageBudget(clock);
});

/** One page for each of many JobSets of a namespace; those that are not refused. */
async function taken(namespace: string, count: number, json = SMALL): Promise<Taken> {
  const all = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      budget.answer({ namespace, jobSetUid: `${namespace}-${i}` }, () => Promise.resolve(json)),
    ),
  );
  const pages = all.filter((answer) => answer.kind === 'Page');
  return { pages, refused: all.filter((answer) => answer.kind === 'Refuse') };
}

interface Taken {
  readonly pages: readonly Extract<PageAnswer, { kind: 'Page' }>[];
  readonly refused: readonly PageAnswer[];
}

function release({ pages }: Taken): void {
  for (const { over } of pages) {
    over();
    over();
  }
}

describe('a namespace', () => {
  it('whose readers do not take their pages gets some, and others get theirs', async () => {
    const slow = await taken('greedy', 40);
    expect(slow.pages).toHaveLength(16);
    expect(slow.refused).toEqual(slow.refused.map(() => BUSY));
    expect((await taken('other', 1)).refused).toEqual([]);
    release(slow);
    expect((await taken('greedy', 40)).pages, 'once they are gone').toHaveLength(16);
  });

  it('whose readers do not take large pages gets fewer', async () => {
    const slow = await taken('greedy', 16, LARGE);
    expect(slow.pages).toHaveLength(5);
    expect(slow.refused).toEqual(slow.refused.map(() => BUSY));
    release(slow);
    expect((await taken('greedy', 1, Buffer.alloc(40 * 1024 * 1024))).pages).toHaveLength(1);
  });

  it('that asks without end gets 25 pages a second, and others get theirs', async () => {
    let pages = 0;
    for (let i = 0; i < 100; i++) {
      const some = await taken('greedy', 10);
      pages += some.pages.length;
      release(some);
      const other = await taken('other', 1);
      expect(other.refused, `the other at ${i}`).toEqual([]);
      release(other);
      await clock.advance(250);
    }
    expect(pages).toBeGreaterThan(600);
    expect(pages).toBeLessThan(700);
  });

  it('loses nothing for a page that could not be written', async () => {
    for (let i = 0; i < 40; i++) {
      const failing = budget.answer({ namespace: 'greedy', jobSetUid: `${i}` }, () =>
        Promise.reject(new Error('no page')),
      );
      await expect(failing).rejects.toThrow('no page');
    }
    expect((await taken('greedy', 10)).refused).toEqual([]);
  });
});

it('one JobSet gets five pages a second', async () => {
  const member = { namespace: 'team', jobSetUid: 'uid' };
  let refused = 0;
  for (let i = 0; i < 30; i++) {
    const answer = await budget.answer(member, () => Promise.resolve(SMALL));
    if (answer.kind === 'Page') answer.over();
    else refused++;
  }
  expect(refused).toBe(10);
});
