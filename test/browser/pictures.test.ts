/**
 * Takes the pictures of the documentation from a training run that loses a worker and has another
 * hang. `LOCKSTEP_PICTURES=docs/images npm run test:browser -- pictures` replaces them; otherwise
 * they go with the test.
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { demoManifest } from '../../src/cli/demo/jobset-manifest.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { PROGRESS_TIMEOUT } from '../../src/jobset/names.ts';
import { type ClusterUnderTest, startCluster } from '../e2e/local-cluster.fixture.ts';
import { pages, type Served, serveDashboard, type Window } from './browser.fixture.ts';

const NAME = 'mnist';
const WORKERS = 4;
const EXAMPLE = join(import.meta.dirname, '../../examples/mnist/jobset.yaml');
const MIN_PICTURE_BYTES = 20_000;
const TIMEOUT_MS = 180_000;
/** So that each epoch shows on a timeline. */
const STEPS = 500;

const browser = pages();
let own: string;
let directory: string;
let cluster: ClusterUnderTest;
let served: Served;

// Each try has a cluster of its own: the first one leaves its JobSets.
beforeEach(async () => {
  own = mkdtempSync(join(tmpdir(), 'lockstep-pictures-'));
  directory = process.env['LOCKSTEP_PICTURES'] ?? own;
  mkdirSync(directory, { recursive: true });
  cluster = await startCluster();
  served = await serveDashboard({ of: ['--kubeconfig', cluster.kubeconfig] });
});

afterEach(async () => {
  await served?.stop();
  await cluster?.stop();
  rmSync(own, { recursive: true, force: true });
});

it('shows a run that lost a worker, and one that hung', { timeout: TIMEOUT_MS }, async () => {
  const { client } = cluster;
  await client.create(JOBSETS, training(NAME, { [PROGRESS_TIMEOUT]: '10s' }));
  const suspended = training('mnist-next', {});
  await client.create(JOBSETS, { ...suspended, spec: { ...suspended.spec, suspend: true } });
  const page = await browser.open(`${served.address}#/jobset/default/${NAME}`);
  page.setDefaultTimeout(TIMEOUT_MS / 3);
  await stepped(page, STEPS);
  await signal(1, 'SIGKILL');
  await page.getByRole('button', { name: /epoch 1 ended/ }).waitFor();
  await stepped(page, 2 * STEPS);
  await signal(2, 'SIGSTOP');
  await page.getByRole('button', { name: /epoch 2 ended/ }).waitFor();
  await stepped(page, 3 * STEPS);

  for (const colorScheme of ['light', 'dark'] as const) {
    await take(`run-${colorScheme}`, `#/jobset/default/${NAME}`, { colorScheme, height: 1100 });
  }
  await take('list-light', '#/', { colorScheme: 'light', height: 380 });
  await take('spec-light', `#/jobset/default/${NAME}/spec`, { colorScheme: 'light', height: 900 });
  await take('run-narrow', `#/jobset/default/${NAME}`, { width: 400, height: 1000 });
});

/** Waits until the page shows that the group has done a step. */
async function stepped(page: Page, least: number): Promise<void> {
  const fact = page.locator('.fact', { has: page.getByText('Step', { exact: true }) });
  const step = async (): Promise<number> =>
    Number(((await fact.locator('b').textContent()) ?? '').replaceAll(',', ''));
  const look = async (): Promise<void> => expect(await step()).toBeGreaterThanOrEqual(least);
  await until(`step ${least}`, look, TIMEOUT_MS / 3);
}

async function take(name: string, hash: string, window: Window): Promise<void> {
  const page = await browser.open(`${served.address}${hash}`, window);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText(NAME).first().waitFor();
  await isDrawn(page);
  const path = join(directory, `dashboard-${name}.png`);
  await page.screenshot({ path });
  expect(statSync(path).size).toBeGreaterThan(MIN_PICTURE_BYTES);
}

/** The charts of a run have their data. */
async function isDrawn(page: Page): Promise<void> {
  if (!page.url().endsWith(`/${NAME}`)) return;
  await page.getByRole('listbox', { name: /^Members/ }).waitFor();
  await page.getByRole('img', { name: /^Steps per second/ }).waitFor();
}

function training(name: string, annotations: Readonly<Record<string, string>>): JobSet {
  const jobSet = demoManifest(parse(readFileSync(EXAMPLE, 'utf8')) as JobSet, {
    name,
    workers: WORKERS,
    strategy: 'InPlaceRestart',
    mode: 'supervisor',
    standby: null,
    steps: 1_000_000,
    checkpointDirectory: join(cluster.shared, name),
  });
  const { metadata } = jobSet;
  return {
    ...jobSet,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
  };
}

/** Signals the training process of a rank. */
async function signal(rank: number, what: NodeJS.Signals): Promise<void> {
  const { items } = await cluster.client.list(PODS, { namespace: 'default' });
  const pod = items.find(
    ({ metadata: { annotations = {}, name } }) =>
      annotations[COMPLETION_INDEX] === String(rank) && name.startsWith(`${NAME}-workers-`),
  );
  const container = `LOCKSTEP_CONTAINER=${pod?.metadata.uid ?? ''}/worker`;
  const [found] = readdirSync('/proc').filter((each) => isTraining(each, container));
  process.kill(Number(found), what);
}

function isTraining(name: string, container: string): boolean {
  try {
    const isWorker = readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith('mnist-worker');
    return isWorker && readFileSync(`/proc/${name}/environ`, 'latin1').includes(container);
  } catch {
    // It is no process, or has ended meanwhile.
    return false;
  }
}
