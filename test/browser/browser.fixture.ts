/** A real browser for tests of the dashboard, and the command that serves the page to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { CHROMIUM } from '../../src/bench/dashboard/dashboard-run.ts';
import { LOCKSTEP, outputUntil } from '../e2e/local-cluster.fixture.ts';

export interface Window {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly forcedColors?: 'active';
  /** The language of the browser, such as `de-DE`. */
  readonly locale?: string;
}

export interface Pages {
  /** Opens an address in a window of its own. */
  open(address: string, window?: Window): Promise<Page>;
}

const DESK = { width: 1280, height: 900 } as const;
/** Longer than what a test waits for: the restart of a group, and a poll of the hub. */
const PATIENCE_MS = 20_000;
/** Chromium's own words for what the network does, which a test that cuts it expects. */
const OF_NETWORK = /net::ERR_|Failed to load resource/;

/**
 * Call it at the top of a suite. After each test it closes the pages and expects that they broke
 * nothing: no error, nothing that their policy has blocked, and no request to another host.
 */
export function pages(): Pages {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];
  const faults: string[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      // Root has no sandbox, and a container little shared memory.
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(async (context) => context.close()));
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => browser?.close());
  return {
    async open(address, window = {}) {
      if (browser === undefined) throw new Error('the browser does not run yet');
      const { width = DESK.width, height = DESK.height, ...rest } = window;
      const viewport = { width, height };
      const context = await browser.newContext({ colorScheme: 'light', ...rest, viewport });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      const { host } = new URL(address);
      page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
      page.on('console', (line) => {
        const isFault = line.type() === 'error' && !OF_NETWORK.test(line.text());
        if (isFault) faults.push(`console: ${line.text()}`);
      });
      page.on('request', (request) => {
        if (new URL(request.url()).host !== host) faults.push(`request: ${request.url()}`);
      });
      await page.goto(address);
      return page;
    },
  };
}

/** What axe-core finds against WCAG 2.2 AA, one line each. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { axe: injected } = globalThis as unknown as { readonly axe: typeof axe };
    const { violations } = await injected.run({ runOnly: { type: 'tag', values: tags } });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary ?? ''}`),
    );
  });
}

/** `lockstep dashboard` as a user starts it. */
export interface Served {
  /** The one that was printed last: its token works once. */
  readonly address: string;
  readonly port: number;
  stop(): Promise<void>;
}

export interface ServeOptions {
  /** The arguments that say of what: `--kubeconfig` and a path, or `--trace` and one. */
  readonly of: readonly ['--kubeconfig' | '--trace', path: string];
  readonly port?: number;
  /** Where the key of open pages is kept; absent: a directory that goes with the server. */
  readonly stateHome?: string;
}

export async function serveDashboard(options: ServeOptions): Promise<Served> {
  const own = mkdtempSync(join(tmpdir(), 'lockstep-browser-'));
  const { of, port = 0, stateHome = own } = options;
  const args = ['dashboard', '--no-open', '--port', `${port}`, ...of];
  const child = spawn(process.execPath, [LOCKSTEP, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, XDG_STATE_HOME: stateHome },
  });
  const output = await outputUntil(child, 'Ctrl-C ends it.');
  let printed = output;
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const lastAddress = (): string => printed.match(/http:\S+(?=\n)/g)?.at(-1) ?? '';
  return {
    get address() {
      return lastAddress();
    },
    port: Number(new URL(lastAddress()).port),
    stop: async () => {
      await end(child);
      rmSync(own, { recursive: true, force: true });
    },
  };
}

/** Far longer than a dashboard takes to end. */
const END_TIMEOUT_MS = 10_000;

/** Rejects if Ctrl-C does not end it, so that a test fails there and leaves nothing behind. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, END_TIMEOUT_MS);
  await ended;
  clearTimeout(late);
  if (isLate) throw new Error(`lockstep dashboard did not end ${END_TIMEOUT_MS} ms after SIGINT`);
}
