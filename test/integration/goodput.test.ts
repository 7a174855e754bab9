/**
 * What became of the time of a group, with the real operator, hub and agents under a virtual clock
 * (`docs/design/goodput.md`).
 */

import { failure } from '@lockstep/kube/status.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sumsOf } from '../../src/jobset/goodput/classes.ts';
import type { Goodput } from '../../src/jobset/jobset-status.ts';
import { PROGRESS_TIMEOUT } from '../../src/jobset/names.ts';
import { SUPERVISOR, THREE_WORKERS, WORKERS } from './three-workers.fixture.ts';
import { HubNetwork, supervisedOverHub, TrainingGroup } from './training-group.fixture.ts';

const SLOTS = ['w/0', 'w/1', 'w/2'];
const STEP_S = 10;
/** An agent sees a report at its next look, so what was lost counts from then. */
const LOOK_S = 0.25;
/** How far the clock of an operator is off. */
const SKEW_S = 5;
const STATUS = 'update jobsets/status';

let hub: HubNetwork;
let group: TrainingGroup;
let createdMs: number;

beforeEach(async () => {
  hub = new HubNetwork();
  group = new TrainingGroup(supervisedOverHub(hub, 'Hub'), hub);
  await group.start();
});

afterEach(() => group.stop());

async function start(annotations = {}): Promise<void> {
  createdMs = group.cluster.clock.now();
  await group.create(THREE_WORKERS, { ...SUPERVISOR, ...annotations });
  await group.allIn(1, WORKERS);
}

function wait(seconds: number): Promise<void> {
  return group.cluster.clock.advance(seconds * 1000);
}

function elapsedS(): number {
  return (group.cluster.clock.now() - createdMs) / 1000;
}

/** All workers report these steps, ten seconds before the next each, and a checkpoint after 30. */
async function work(from: number, to: number): Promise<void> {
  for (let step = from; step <= to; step++) {
    for (const slot of SLOTS) group.report(slot, `${step} checkpoint=${step - (step % 30)}`);
    await wait(STEP_S);
  }
}

async function goodput(): Promise<Goodput> {
  const found = (await group.jobSet()).status?.goodput;
  if (found === undefined) throw new Error('nothing is accounted for');
  return found;
}

function sums(of: Goodput): Record<string, number> {
  return seconds(sumsOf(of));
}

/** Seconds of each class that has some. */
function seconds(classes: Readonly<Record<string, number>>): Record<string, number> {
  const some = Object.entries(classes).filter(([, ms]) => ms > 0);
  return Object.fromEntries(some.map(([name, ms]) => [name, ms / 1000]));
}

async function metric(): Promise<Record<string, number>> {
  const signal = new AbortController().signal;
  const { body } = await group.metrics.handler({
    method: 'GET',
    path: '/metrics',
    headers: {},
    signal,
  });
  const text = Buffer.from(body as Uint8Array).toString();
  const found = text.matchAll(/^lockstep_goodput_seconds_total\{class="(\w+)"\} (.+)$/gm);
  return seconds(Object.fromEntries([...found].map(([, name, s]) => [name, Number(s) * 1000])));
}

function expectClose(actual: Record<string, number>, expected: Record<string, number>): void {
  const toleranceS = elapsedS() / 1000;
  expect(Object.keys(actual).toSorted()).toEqual(Object.keys(expected).toSorted());
  for (const [name, s] of Object.entries(expected)) {
    expect(Math.abs((actual[name] ?? 0) - s), `${name}: ${actual[name]} for ${s}`).toBeLessThan(
      toleranceS,
    );
  }
}

describe.each([-SKEW_S, SKEW_S])('where another operator has a clock that is %i s off', (skewS) => {
  it('the time of a whole life is in the right classes', async () => {
    await start({ [PROGRESS_TIMEOUT]: '1m' });
    const before = group.operatorClient.writes.length;
    await wait(60);
    await work(1, 438);
    expect(group.operatorClient.writes.length, 'writes in a quiet hour').toBe(before);
    const expected: Record<string, number> = {
      Starting: 60,
      Productive: (420 - 1) * STEP_S,
      Lost: 19 * STEP_S,
    };
    const add = (name: string, s: number): void => {
      expected[name] = (expected[name] ?? 0) + s;
    };
    const restart = async (slot: string, epoch: number): Promise<void> => {
      const endedS = elapsedS();
      group.exit(slot, 137);
      await group.allIn(epoch, WORKERS);
      add('Restarting', elapsedS() - endedS);
    };

    // One member cannot be reached for a while.
    hub.detours.set('w/2', undefined);
    hub.network('w/2').breakAll();
    group.cluster.clock.setTimer(40_000, () => hub.detours.clear());
    await restart('w/1', 2);

    // Restored from step 420, they all hang 100 s after a checkpoint.
    await wait(120);
    await work(421, 610);
    add('Starting', 120);
    add('Productive', (600 - 421) * STEP_S);
    add('Lost', 10 * STEP_S);
    add('Hung', 60);
    const writes = group.operatorClient.count(STATUS);
    await group.allIn(3, WORKERS);
    expect(group.operatorClient.count(STATUS) - writes, 'writes of a restart').toBe(2);

    await wait(60);
    await work(601, 660);
    group.clockAheadMs = skewS * 1000;
    await group.startOperator();
    await work(661, 700);
    add('Starting', 60);
    add('Productive', (690 - 601) * STEP_S);
    add('Lost', 11 * STEP_S);
    await restart('w/0', 4);

    await wait(60);
    await work(691, 800);
    add('Starting', 60);
    add('Productive', (780 - 691) * STEP_S);
    add('Lost', 21 * STEP_S);
    await group.patch({ spec: { suspend: true } });
    await wait(1800);
    add('Suspended', 1800);
    const resumedS = elapsedS();
    await group.patch({ spec: { suspend: false } });
    await group.cluster.until(async () => group.running().size === WORKERS);
    add('Waiting', elapsedS() - resumedS);

    await wait(60);
    await work(781, 850);
    add('Starting', 60);
    add('Productive', 70 * STEP_S);
    for (const slot of SLOTS) await group.finish(slot, 0);
    await group.until(({ terminalState }) => terminalState === 'Completed');
    const spentS = elapsedS();
    await wait(3600);

    const { time } = await goodput();
    const total = Object.values(sums(await goodput())).reduce((sum, s) => sum + s, 0);
    expect(total, 'by the clock of the leader').toBeCloseTo(
      (Date.parse(time) - createdMs) / 1000,
      3,
    );
    expect(Math.abs(total - spentS - skewS)).toBeLessThan(1);
    expectClose(sums(await goodput()), expected);
    expectClose(await metric(), sums(await goodput()));
  });
});

describe('an operator', () => {
  const total = async (): Promise<number> =>
    Object.values(sums(await goodput())).reduce((sum, s) => sum + s, 0);

  it('that was away for an hour learns from the agents what the group did meanwhile', async () => {
    await start();
    await wait(20);
    await work(1, 30);
    await group.stopOperator();
    await work(31, 390);
    await group.startOperator();
    await work(391, 400);
    group.exit('w/0', 1);
    await group.allIn(2, WORKERS);
    expectClose(sums(await goodput()), {
      Waiting: 0,
      Starting: 20,
      Productive: (390 - 1) * STEP_S,
      Lost: 11 * STEP_S,
      Restarting: 0,
    });
  });

  it('whose clock is an hour behind adds nothing until it is right again', async () => {
    await start();
    await wait(20);
    await work(1, 60);
    group.exit('w/0', 1);
    await group.allIn(2, WORKERS);
    const { course: _, ...before } = await goodput();
    group.clockAheadMs = -3_600_000;
    await group.startOperator();
    await work(61, 100);
    group.exit('w/0', 1);
    await group.allIn(3, WORKERS);
    // The course goes to the record of the epoch that ended, also where no time was added.
    const { checkpoint, course, ...behind } = await goodput();
    expect({ ...behind, checkpoint: before.checkpoint }).toEqual(before);
    expect(checkpoint).toBe(90);
    expect(course).toBeUndefined();
    group.clockAheadMs = 0;
    await group.startOperator();
    await work(101, 130);
    group.exit('w/0', 1);
    await group.allIn(4, WORKERS);
    expect(await total()).toBeCloseTo(elapsedS(), 0);
    expectClose(await metric(), sums(await goodput()));
  });
});

describe('the metric of time', () => {
  /** The group works, fails and is released again. */
  async function restart(): Promise<void> {
    await wait(20);
    await work(1, 40);
    group.exit('w/1', 137);
    await group.allIn(2, WORKERS);
    await wait(STEP_S);
  }

  it('counts no second twice if writes meet a conflict', async () => {
    await start();
    let conflicts = 0;
    group.operatorClient.beforeWrite = ({ what }) => {
      if (what === STATUS && conflicts++ % 2 === 0) throw failure('Conflict', 'it has changed');
    };
    await restart();
    expect(conflicts).toBeGreaterThan(2);
    expectClose(await metric(), sums(await goodput()));
    expect(sums(await goodput())).toMatchObject({
      Productive: expect.closeTo(290, 1),
      Lost: expect.closeTo(110 - LOOK_S, 1),
    });
  });

  it('does not grow while a group runs, nor with another leader', async () => {
    await start();
    await restart();
    const before = await metric();
    await work(41, 100);
    await group.startOperator();
    await work(101, 200);
    expect(await metric()).toEqual(before);
    group.exit('w/0', 1);
    await group.allIn(3, WORKERS);
    expectClose(await metric(), sums(await goodput()));
    expect(sums(await goodput())).toMatchObject({
      Productive: expect.closeTo(290 + 1390, 1),
      Lost: expect.closeTo(110 + 210 - 2 * LOOK_S, 1),
    });
  });
});
