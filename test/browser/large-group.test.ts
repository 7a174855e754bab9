/** The page of a group of 5,000 members, all of which report steps. */

import { setMaxListeners } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DashboardRun, startDashboardRun } from '../../src/bench/dashboard/dashboard-run.ts';
import { pages } from './browser.fixture.ts';

const SIZE = 5000;
const START_TIMEOUT_MS = 300_000;

const browser = pages();
const stopping = new AbortController();
/** Each member is asked about by a request that listens to it. */
setMaxListeners(0, stopping.signal);
let run: DashboardRun;

beforeAll(async () => {
  run = await startDashboardRun(SIZE, stopping.signal);
}, START_TIMEOUT_MS);

afterAll(async () => {
  await run?.stop();
  stopping.abort();
});

it('has a cell for each member, and shows the last of them', async () => {
  const page = await browser.open(`${run.dashboard.address}#/jobset/${run.namespace}/${run.name}`);
  const grid = page.getByRole('listbox', { name: /^Members/ });
  await grid.locator(`[aria-setsize="${SIZE}"]`).waitFor({ state: 'attached' });
  await grid.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: new RegExp(`/${SIZE - 1}$`) }).waitFor();

  const epoch = await run.restart();
  await page
    .getByRole('button', { name: new RegExp(`epoch ${epoch - 1} ended`) })
    .first()
    .waitFor();
  await page.locator('.badge', { hasText: 'Running' }).first().waitFor();
  expect(await grid.locator('[role=option]').count()).toBe(1);
});
