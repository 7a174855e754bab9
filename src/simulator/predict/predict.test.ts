import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, it } from 'vitest';
import { BusyThread } from './busy-thread.ts';
import { PredictedGroup, type Prediction, type Sharing } from './predicted-group.ts';
import { reportOf } from './report.ts';

async function predicted(members: number, sharing: Partial<Sharing> = {}): Promise<Prediction> {
  const group = await PredictedGroup.started(members);
  const prediction = await group.restart({ operators: 1, slower: 1, ...sharing });
  await group.stop();
  return prediction;
}

it('gives the same bytes each time, and larger groups take longer', async () => {
  const sizes = [4, 16, 64];
  const first = await Promise.all(sizes.map((members) => predicted(members)));
  const again = await Promise.all(sizes.map((members) => predicted(members)));
  expect(reportOf(again)).toBe(reportOf(first));
  for (const field of ['restartMs', 'stoppedMs', 'cpuMs', 'memoryMib', 'messages'] as const) {
    const values = first.map((prediction) => prediction[field]);
    expect(new Set(values).size).toBe(sizes.length);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
  }
});

it('makes three messages for each member, and four requests for any size', async () => {
  for (const members of [4, 64]) {
    expect(await predicted(members)).toMatchObject({ messages: 3 * members, requests: 4 });
  }
});

it('takes longer on a slower machine, and less long with streams that replicas share', async () => {
  const group = await PredictedGroup.started(100);
  const plain = await group.restart({ operators: 1, slower: 1 });
  const slow = await group.restart({ operators: 1, slower: 2 });
  const shared = await group.restart({ operators: 4, slower: 1 });
  await group.stop();
  expect(slow.restartMs).toBeGreaterThan(plain.restartMs);
  expect(slow.cpuMs / plain.cpuMs).toBeCloseTo(2, 1);
  expect(shared.restartMs).toBeLessThan(plain.restartMs);
  expect(shared.memoryMib).toBeLessThan(plain.memoryMib);
  expect(shared).toMatchObject({ requests: plain.requests, messages: plain.messages });
});

it('compares with what was measured', async () => {
  const prediction = { ...(await predicted(4)), members: 1000, restartMs: 220, cpuMs: 96 };
  const report = reportOf([prediction]);
  expect(report).toMatch(/1000 +embedded +1 +2\.00 +1\.00 .*off by more than 30 %/);
  expect(report).toMatch(/1000 +Kubernetes +1 +1\.98 /);
});

it('says when pings do not fit', () => {
  const prediction: Prediction = {
    members: 130_000,
    operators: 1,
    slower: 1,
    restartMs: 9000,
    stoppedMs: 6000,
    cpuMs: 9000,
    memoryMib: 6400,
    shareAtRest: 1.44,
    requests: 4,
    messages: 390_000,
  };
  expect(reportOf([prediction])).toContain('does not keep up');
  expect(reportOf([{ ...prediction, shareAtRest: 0.4 }])).not.toContain('does not keep up');
});

it('adds up what it owes, also while it has nothing else to do', async () => {
  const clock = new VirtualClock();
  const thread = new BusyThread(clock);
  thread.pace = 2;
  expect([3, 1, 1].map((costMs) => thread.charge(costMs))).toEqual([6, 8, 10]);
  await clock.advance(4);
  expect(thread.charge(1)).toBe(8);
  const done: number[] = [];
  thread.run(1, () => {
    done.push(clock.monotonic(), thread.charge(1));
  });
  // The work that waits comes after what is owed.
  expect(thread.charge(2)).toBe(12);
  await clock.advance(100);
  expect(done).toEqual([18, 2]);
  expect(thread.charge(1)).toBe(2);
  expect(thread.busyMs).toBe(22);
});

it('does one thing after the other, and late timers', async () => {
  const clock = new VirtualClock();
  const thread = new BusyThread(clock);
  thread.pace = 2;
  const done: string[] = [];
  const note = (what: string) => (): void => void done.push(`${what} at ${clock.monotonic()}`);
  thread.clock.setTimer(1, note('timer'));
  thread.clock.setTimer(1, note('cancelled')).cancel();
  thread.run(5, () => {
    note('first')();
    expect(thread.charge(3)).toBe(6);
    expect(thread.charge(1)).toBe(8);
  });
  thread.run(1, note('second'));
  await clock.advance(100);
  expect(done).toEqual(['first at 10', 'second at 20', 'timer at 20']);
  expect(thread.busyMs).toBe(20);
});
