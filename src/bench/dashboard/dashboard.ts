/**
 * Measures the dashboard in a real browser: its size, how soon a page is drawn once its data has
 * come, how soon a change in the cluster is on the page, and what a page of a large run costs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type CDPSession, chromium, type Page } from 'playwright-core';
import { JOBSETS } from '../../jobset/jobset.ts';
import { EXTRA_RESTARTS } from '../../jobset/names.ts';
import { type BenchOptions, type Report, type Row, spread } from '../table.ts';
import { CHROMIUM, type DashboardRun, startDashboardRun } from './dashboard-run.ts';

const PAGE = join(import.meta.dirname, '../../../dist/dashboard');
const DEFAULT_SIZES = [64, 5000];
const ROUNDS = 7;
const KIB = 1024;
const WINDOW = { width: 1280, height: 900 };
const CPU_WINDOW_MS = 10_000;
const TIMEOUT_MS = 60_000;

export async function benchDashboard(
  report: Report,
  { agents = DEFAULT_SIZES, signal }: BenchOptions,
): Promise<void> {
  report(sizeOfPage());
  for (const size of agents) {
    signal.throwIfAborted();
    const run = await startDashboardRun(size, signal);
    try {
      await measure(run, size, report);
    } finally {
      await run.stop();
    }
  }
}

function sizeOfPage(): Row {
  const sizes = readdirSync(PAGE).map((name) => gzipSync(readFileSync(join(PAGE, name))).length);
  const bytes = sizes.reduce((sum, each) => sum + each, 0);
  return { benchmark: 'the page, compressed', unit: 'KiB', median: bytes / KIB };
}

async function measure(run: DashboardRun, size: number, report: Report): Promise<void> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    const context = await browser.newContext({ viewport: WINDOW });
    context.setDefaultTimeout(TIMEOUT_MS);
    await context.addInitScript(STAMP_MEMBERS);
    const page = await context.newPage();
    const address = `${run.dashboard.address}#/jobset/${run.namespace}/${run.name}`;
    const row = (what: string, values: readonly number[], notes?: string): void =>
      report({ benchmark: `${size} members: ${what}`, unit: 'ms', ...spread(values), notes });

    await page.goto(address);
    await page.evaluate(DRAWN);
    const drawn: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await page.reload();
      drawn.push(Number(await page.evaluate(DRAWN)));
    }
    row('drawn after its data has come', drawn);

    const updates: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) updates.push(await update(run, page, round));
    row('a change of the JobSet is on the page', updates);

    await page.evaluate(START_FRAMES);
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable');
    const before = await cpuOf(session);
    await page.waitForTimeout(CPU_WINDOW_MS);
    const after = await cpuOf(session);
    const share = (100 * (after - before) * 1000) / CPU_WINDOW_MS;
    const longest = Number(await page.evaluate('longestFrameMs'));
    report({
      benchmark: `${size} members: the page while all members make steps`,
      unit: '% of a core',
      median: share,
      notes: `longest time between two frames ${Math.round(longest)} ms`,
    });

    const beganMs = performance.now();
    const epoch = await run.restart();
    const restartedMs = performance.now();
    await page.getByRole('button', { name: new RegExp(`epoch ${epoch - 1} ended`) }).waitFor();
    row(
      'a restart is on the page after all have started',
      [Math.max(0, performance.now() - restartedMs)],
      `the restart took ${Math.round(restartedMs - beganMs)} ms`,
    );
  } finally {
    await browser.close();
  }
}

/** From the answer of the API server to the text on the page. */
async function update(
  { client, namespace, name }: DashboardRun,
  page: Page,
  round: number,
): Promise<number> {
  const seen = page
    .getByText(new RegExp(`\\b${1000 + round} extra\\b`))
    .first()
    .waitFor();
  const annotations = { [EXTRA_RESTARTS]: String(1000 + round) };
  const patch = { type: 'merge', patch: { metadata: { annotations } } } as const;
  await client.patch(JOBSETS, { namespace, name }, patch);
  const changedMs = performance.now();
  await seen;
  return performance.now() - changedMs;
}

/** Seconds of script, style and layout since the session was enabled. */
async function cpuOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((each) => each.name === 'TaskDuration')?.value ?? Number.NaN;
}

/** Notes when the first members have come: before any other listener hears of them. */
const STAMP_MEMBERS = `
  globalThis.EventSource = class extends EventSource {
    constructor(address) {
      super(address);
      this.addEventListener('message', ({ data }) => {
        if (data.startsWith('{"type":"Members"')) globalThis.membersMs ??= performance.now();
      });
    }
  };
`;

/** Milliseconds from the first members to the picture that has all of them. */
const DRAWN = `new Promise((resolve) => {
  const look = () => {
    const cell = document.querySelector('[role=listbox] [role=option]');
    if (globalThis.membersMs === undefined || cell === null) requestAnimationFrame(look);
    else requestAnimationFrame(() => resolve(performance.now() - globalThis.membersMs));
  };
  look();
})`;

const START_FRAMES = `
  globalThis.longestFrameMs = 0;
  let lastMs = performance.now();
  const frame = () => {
    const nowMs = performance.now();
    longestFrameMs = Math.max(longestFrameMs, nowMs - lastMs);
    lastMs = nowMs;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
`;
