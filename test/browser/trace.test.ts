/** A trace of the simulator in the page: a group in which a worker exits. */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TraceEvent, TraceLine } from '../../src/dashboard/messages/trace.ts';
import { runScenario } from '../../src/simulator/run.ts';
import type { Scenario } from '../../src/simulator/scenario.ts';
import { accessibilityFaults, pages, type Served, serveDashboard } from './browser.fixture.ts';

const START_TIMEOUT_MS = 60_000;
const SCENARIO: Scenario = {
  seed: 1,
  jobs: [{ name: 'a', replicas: 1, pods: 2 }],
  nodes: 1,
  operators: 1,
  maxRestarts: 3,
  isInOrder: false,
  acts: [{ atMs: 20_000, act: { kind: 'WorkerExits', member: 0, exitCode: 7 } }],
};

const FAULTS: readonly TraceEvent['kind'][] = ['Act', 'Peace', 'Violated'];

const browser = pages();
const directory = mkdtempSync(join(tmpdir(), 'lockstep-trace-'));
const events: TraceEvent[] = [];
let served: Served;

beforeAll(async () => {
  const path = join(directory, 'trace.jsonl');
  const file = openSync(path, 'w');
  let isViolated = false;
  const trace = (line: TraceLine): void => {
    const write = (one: TraceLine): void => {
      writeSync(file, `${JSON.stringify(one)}\n`);
      if ('text' in one) events.push(one);
    };
    write(line);
    // The checks find nothing here, so a finding is put where the epoch has just ended.
    if (isViolated || !('text' in line) || !line.text.startsWith('status: ended 1')) return;
    isViolated = true;
    write({ kind: 'Violated', atMs: line.atMs, text: 'VIOLATED: <b>by a test</b>' });
  };
  await runScenario(SCENARIO, { trace });
  closeSync(file);
  served = await serveDashboard({ of: ['--trace', path] });
}, START_TIMEOUT_MS);

afterAll(async () => {
  await served?.stop();
  rmSync(directory, { recursive: true });
});

it('shows the run at each event, by buttons, keys and a slider', async () => {
  const page = await browser.open(served.address);
  const last = events.length;
  await isAt(page, 1);
  await page.getByRole('button', { name: 'To the end' }).click();
  await isAt(page, last);
  await page.getByText('runs', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await isAt(page, last - 1);
  await page.keyboard.press('ArrowLeft');
  await isAt(page, last - 2);
  await page.keyboard.press('ArrowRight');
  await isAt(page, last - 1);
  await page.getByRole('slider', { name: 'Event' }).press('Home');
  await isAt(page, 1);
  await page.getByRole('button', { name: 'Back', disabled: true }).waitFor();
});

it('jumps to the violation, at which members are on their way to the barrier', async () => {
  const page = await browser.open(served.address);
  const at = events.findIndex(({ kind }) => kind === 'Violated') + 1;
  await page.getByRole('button', { name: 'Jump to the violation' }).click();
  await isAt(page, at);
  await page.getByRole('status').getByText('VIOLATED: <b>by a test</b>').waitFor();
  await page.getByRole('heading', { name: /^Epoch 1 ended/ }).waitFor();
  const members = page.getByRole('region', { name: 'Members as a table' });
  await members.getByText('not at the new epoch yet').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  // A load of the page leads to the same event.
  await page.waitForURL(new RegExp(`#/event/${at}$`));
  await page.reload();
  await isAt(page, at);
});

it('steps through faults alone, and offers no action and no log', async () => {
  const page = await browser.open(served.address);
  await chooseFaults(page);
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  await isAt(page, events.findIndex(({ kind }) => kind === 'Act') + 1);
  await page.getByRole('listbox', { name: /^Members/ }).press('Enter');
  await page.getByRole('heading', { name: 'train-a-0/0' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Log' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Actions' }).count()).toBe(0);
});

it('steps by keys after a choice, and by the slider from fault to fault', async () => {
  const page = await browser.open(served.address);
  const faults = events.flatMap(({ kind }, i) => (FAULTS.includes(kind) ? [i + 1] : []));
  const [first = 0, second = 0, third = 0] = faults;
  await isAt(page, 1);
  await chooseFaults(page);
  await page.keyboard.press('ArrowRight');
  await isAt(page, first);
  const slider = page.getByRole('slider', { name: 'Event' });
  await slider.press('ArrowRight');
  await isAt(page, second);
  await slider.press('ArrowUp');
  await isAt(page, third);
  await slider.press('ArrowDown');
  await isAt(page, second);
  await slider.press('Home');
  await isAt(page, first);
  await slider.press('v');
  await isAt(page, events.findIndex(({ kind }) => kind === 'Violated') + 1);
  expect(await accessibilityFaults(page)).toEqual([]);
});

it('stays at its event for the keys and addresses of other pages', async () => {
  const page = await browser.open(served.address);
  await page.getByRole('button', { name: 'To the end' }).click();
  await isAt(page, events.length);
  await page.waitForURL(new RegExp(`#/event/${events.length}$`));
  await page.keyboard.press('g');
  await page.keyboard.press('ArrowLeft');
  await isAt(page, events.length - 1);
  expect(await page.getByRole('link', { name: 'Lockstep' }).count()).toBe(0);
  await page.waitForURL(new RegExp(`#/event/${events.length - 1}$`));
  await page.evaluate("location.hash = '#/'");
  await page.waitForURL(new RegExp(`#/event/${events.length - 1}$`));
  await isAt(page, events.length - 1);
});

it('says what a recording has, and of its JobSet only what was answered', async () => {
  const page = await browser.open(served.address);
  await isAt(page, 1);
  const made = events.findIndex(({ kind }) => kind === 'Status');
  for (let step = 0; step < made; step++) await page.keyboard.press('ArrowRight');
  await isAt(page, made + 1);
  await page.getByText('There are no conditions yet. A trace has no Events.').waitFor();
  await page.waitForURL(new RegExp(`#/event/${made + 1}$`));
  let answer: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const problem = 'The JobSet of line 3 of the trace cannot be shown: it is odd.';
  await page.route('**/api/trace/state*', async (route) => {
    await held;
    await route.fulfill({ json: [{ type: 'Problems', problems: [problem] }] });
  });
  await page.reload();
  await page.getByRole('heading', { name: 'Waiting for the run' }).waitFor();
  answer?.();
  await page.getByText(problem).waitFor();
  await page.getByRole('heading', { name: 'No JobSet to show' }).waitFor();
});

it('is all that the server has: it asks no cluster', async () => {
  const page = await browser.open(served.address);
  await isAt(page, 1);
  const statuses = await page.evaluate(async () => {
    const paths = ['/api/overview', '/api/run?namespace=default&name=train', '/api/trace/state'];
    return Promise.all(paths.map(async (path) => (await fetch(path)).status));
  });
  expect(statuses).toEqual([404, 404, 400]);
});

async function chooseFaults(page: Page): Promise<void> {
  const choice = page.getByRole('group', { name: 'Step through' });
  await choice.getByRole('button', { name: 'faults and violations' }).click();
}

/** The player has arrived at an event, counted from 1. */
async function isAt(page: Page, number: number): Promise<void> {
  await page.getByText(`Event ${number} of ${events.length}, at`).waitFor();
}
