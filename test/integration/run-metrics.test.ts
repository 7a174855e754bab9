/**
 * The metrics of one JobSet through its life, with the real operator, hub and agents under a
 * virtual clock.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { PROGRESS_TIMEOUT } from '../../src/jobset/names.ts';
import { SUPERVISOR, THREE_WORKERS, WORKERS } from './three-workers.fixture.ts';
import { HubNetwork, supervisedOverHub, TrainingGroup } from './training-group.fixture.ts';

const SLOTS = ['w/0', 'w/1', 'w/2'];

let hub: HubNetwork;
let group: TrainingGroup;

beforeEach(async () => {
  hub = new HubNetwork();
  group = new TrainingGroup(supervisedOverHub(hub, 'Hub'), hub);
  await group.start();
});

afterEach(() => group.stop());

/** What the page says of the JobSet, by name without prefix and with labels of its own. */
async function series(): Promise<Readonly<Record<string, number>>> {
  const { signal } = new AbortController();
  const request = { method: 'GET', path: '/metrics', headers: {}, signal } as const;
  const { body } = await group.metrics.handler(request);
  const text = Buffer.from(body as Uint8Array).toString();
  const found = text.matchAll(
    /^lockstep_jobset_(\w+)\{namespace="default",jobset="train"(?:,\w+="(\w+)")?\} (.+)$/gm,
  );
  return Object.fromEntries(
    [...found].map(([, name, label, value]) => [
      label === undefined ? name : `${name} ${label}`,
      Number(value),
    ]),
  );
}

function nowS(): number {
  return group.cluster.clock.now() / 1000;
}

it('series of a JobSet come, follow it, and go', async () => {
  expect(await series()).toEqual({});
  await group.create(THREE_WORKERS, { ...SUPERVISOR, [PROGRESS_TIMEOUT]: '10m' });
  await group.allIn(1, WORKERS);
  expect(await series()).toMatchObject({
    'state Released': 1,
    'state AtBarrier': 0,
    epoch: 1,
    members: 3,
    members_announced: 3,
    restart_budget: 3,
    restart_budget_used: 0,
  });
  expect(await series()).not.toHaveProperty('barrier_since_timestamp_seconds');
  expect(await series(), 'no worker has reported').not.toHaveProperty('progress_timestamp_seconds');

  const reportedS = nowS();
  for (const slot of SLOTS) group.report(slot, '60 checkpoint=60');
  await group.cluster.clock.advance(60_000);
  const reported = await series();
  expect(reported).toMatchObject({ step: 60, checkpoint: 60 });
  expect(reported['progress_timestamp_seconds']).toBeGreaterThanOrEqual(reportedS);
  expect(reported['progress_timestamp_seconds']).toBeLessThan(reportedS + 5);

  group.exit('w/0', 137);
  await group.allIn(2, WORKERS);
  const restarted = await series();
  expect(restarted).toMatchObject({ epoch: 2, members_announced: 3, restart_budget_used: 1 });
  expect(restarted['goodput_ratio']).toBeLessThan(1);
  expect(restarted['goodput_seconds Lost']).toBeGreaterThan(50);
  expect(nowS() - (restarted['progress_timestamp_seconds'] ?? 0), 'a release counts').toBeLessThan(
    5,
  );

  await group.patch({ spec: { suspend: true } });
  await group.until(
    ({ conditions }) => conditions?.some(({ type }) => type === 'Suspended') === true,
  );
  const suspended = await series();
  expect(suspended).toMatchObject({ 'state Suspended': 1 });
  for (const name of ['barrier_since_timestamp_seconds', 'progress_timestamp_seconds']) {
    expect(suspended).not.toHaveProperty(name);
  }

  await group.cluster.client.delete(JOBSETS, { namespace: 'default', name: 'train' });
  await group.cluster.clock.advance(10_000);
  expect(await series()).toEqual({});
});

it('a group that waits for a member shows since when', async () => {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
  const endedS = nowS();
  hub.network('w/2').isCut = true;
  group.exit('w/0', 137);
  await group.cluster.clock.advance(600_000);
  const waiting = await series();
  expect(waiting).toMatchObject({ 'state AtBarrier': 1, epoch: 2, members_announced: 2 });
  const sinceS = waiting['barrier_since_timestamp_seconds'] ?? 0;
  expect(sinceS - endedS).toBeGreaterThanOrEqual(0);
  expect(nowS() - sinceS).toBeGreaterThan(300);
});

it('only an operator that acts has them', async () => {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
  expect(await series()).toHaveProperty('epoch');
  await group.stopOperator();
  expect(await series()).toEqual({});
  await group.startOperator();
  expect(await series()).toHaveProperty('epoch');
});
