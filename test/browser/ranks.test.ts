/** The page of a group whose agents start several processes in each Pod: ranks as cells, and their logs. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import { LOG_PREFIX } from '../../src/jobset/names.ts';
import { type ClusterUnderTest, startCluster } from '../e2e/local-cluster.fixture.ts';
import { accessibilityFaults, pages, type Served, serveDashboard } from './browser.fixture.ts';

const SIZE = 2;
const PROCESSES = 4;

const browser = pages();
let cluster: ClusterUnderTest;
let served: Served;

async function startGroup(name: string, annotations: Record<string, string>): Promise<WorkerGroup> {
  const group = await WorkerGroup.start({
    client: cluster.client,
    directory: cluster.shared,
    name,
    size: SIZE,
    processes: PROCESSES,
    mode: 'Supervisor',
    maxRestarts: 10,
    annotations,
  });
  await group.running(1);
  return group;
}

beforeAll(async () => {
  cluster = await startCluster();
  served = await serveDashboard({ of: ['--kubeconfig', cluster.kubeconfig] });
});

afterAll(async () => {
  await served?.stop();
  await cluster?.stop();
});

it('has a cell for each rank, and shows the log of one of them', async () => {
  const group = await startGroup('ranks', {});
  const page = await browser.open(`${served.address}#/jobset/default/ranks`);
  await page.getByRole('combobox', { name: 'One cell for each' }).selectOption('rank');
  const grid = page.getByRole('listbox', { name: /^Members/ });
  await grid.locator(`[aria-setsize="${SIZE * PROCESSES}"]`).waitFor({ state: 'attached' });
  await page.getByText('rank 5 (process 1) of ranks-w-0/1').first().click();

  const member = page.getByRole('region', { name: /w-0\/1/ });
  const log = member.getByRole('region', { name: 'Lines of the log' });
  await log.getByText('[5] rank 5 runs').first().waitFor();
  expect(await log.getByText(/rank [0-9]+ runs/).allTextContents()).toEqual(['[5] rank 5 runs']);
  expect(page.url()).toMatch(/&process=1$/);
  expect(await accessibilityFaults(page)).toEqual([]);

  group.kill(6);
  await group.running(2);
  await log.getByText('[5] rank 5 runs').nth(1).waitFor();
  await member.getByRole('combobox', { name: 'Log of' }).selectOption('rank 6 (process 2)');
  await log.getByText('[6] rank 6 runs').first().waitFor();
  await member.getByRole('combobox', { name: 'Log of' }).selectOption('the whole Pod');
  await log.getByText('[7] rank 7 runs').first().waitFor();
  expect(new URL(page.url()).hash).not.toContain('process');
});

it('shows the log of the Pod where lines carry no rank, and says why', async () => {
  await startGroup('no-prefix', { [LOG_PREFIX]: 'Off' });
  const page = await browser.open(`${served.address}#/jobset/default/no-prefix`);
  await page.getByRole('button', { name: 'no-prefix-w-0/1' }).click();
  const member = page.getByRole('region', { name: /w-0\/1/ });
  await member.getByRole('combobox', { name: 'Log of' }).selectOption('rank 5 (process 1)');
  await member.getByText(/^The log of the whole Pod: lockstep\/log-prefix is Off/).waitFor();
  await member.getByText('rank 4 runs').first().waitFor();
});
