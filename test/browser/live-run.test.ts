/** The page of a group that trains, loses a worker, and is acted on. */

import { isReason } from '@lockstep/kube/status.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { type ClusterUnderTest, startCluster } from '../e2e/local-cluster.fixture.ts';
import {
  accessibilityFaults,
  pages,
  type Served,
  serveDashboard,
  type Window,
} from './browser.fixture.ts';

const NAME = 'training';
const SIZE = 4;
const RUN = `#/jobset/default/${NAME}`;

const browser = pages();
let cluster: ClusterUnderTest;
let group: WorkerGroup;
let served: Served;

beforeAll(async () => {
  cluster = await startCluster();
  group = await WorkerGroup.start({
    client: cluster.client,
    directory: cluster.shared,
    name: NAME,
    size: SIZE,
    mode: 'Supervisor',
    stepMs: 100,
    maxRestarts: 10,
  });
  served = await serveDashboard({ of: ['--kubeconfig', cluster.kubeconfig] });
  await group.running(1);
  await group.stepped(5);
});

afterAll(async () => {
  await served?.stop();
  await cluster?.stop();
});

/** Opens a view behind the `#`. */
function open(hash: string, window?: Window): Promise<Page> {
  return browser.open(`${served.address}${hash}`, window);
}

function heading(page: Page, name: string | RegExp): Locator {
  return page.getByRole('heading', { name });
}

describe('the session', () => {
  it('removes its token from the address', async () => {
    const page = await open('#/');
    expect(new URL(page.url()).search).toBe('');
    expect(await page.evaluate('document.cookie')).toBe('');
  });
});

describe('the list', () => {
  it('leads to a run, by keyboard too', async () => {
    const page = await open('#/');
    await page.getByRole('link', { name: NAME }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('train');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heading(page, NAME).first().waitFor();
    expect(new URL(page.url()).hash).toBe(RUN);
  });

  it('says when the filter matches nothing, and shows all again', async () => {
    const page = await open('#/?name=nothing-has-this-name');
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('link', { name: NAME }).waitFor();
  });
});

describe('the run', () => {
  it('shows a worker that is lost as it happens: who, how long each phase took, and why', async () => {
    const page = await open(RUN);
    await page.locator('.badge', { hasText: 'Running' }).first().waitFor();
    const epoch = (group.status.deprecatedEpoch ?? 0) + 1;

    group.kill(2);
    await page.getByRole('button', { name: new RegExp(`epoch ${epoch} ended`) }).click();

    const restart = page.getByRole('region', { name: `Epoch ${epoch} ended` });
    await restart.getByText(/Worker 2 of w .*SIGKILL/).waitFor();
    await restart.getByText('SIGKILL').first().waitFor();
    await group.running(epoch + 1);
    await restart
      .locator('.waterfall td.number', { hasText: /\d ms|\d s/ })
      .first()
      .waitFor();
    const phases = await restart.locator('.waterfall tbody tr').count();
    expect(phases).toBeGreaterThanOrEqual(4);
  });

  it('shows a member with the live end of its log', async () => {
    const page = await open(RUN);
    const grid = page.getByRole('listbox', { name: /^Members/ });
    await grid.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');

    const member = page.getByRole('region', { name: /w-0\/3/ });
    await member.waitFor();
    const lines = member.getByRole('region', { name: 'Lines of the log' });
    await lines.waitFor();
    const pod = group.livePods().find(({ metadata }) => metadata.name.includes('-w-0-3-'));
    await member
      .getByText(pod?.metadata.name ?? '')
      .first()
      .waitFor();
  });

  it('draws the speed of the group', async () => {
    const page = await open(RUN);
    await page.getByRole('img', { name: /^Steps per second/ }).waitFor();
  });

  it('keeps what is looked at in the address, and goes back and forward', async () => {
    const page = await open(RUN);
    await page.getByRole('button', { name: 'w-0/2' }).click();
    await heading(page, /w-0\/2/).waitFor();
    expect(page.url()).toMatch(/\?member=[a-z0-9-]+$/);
    await page.getByRole('button', { name: /^epoch 1 ended/ }).click();
    await page.getByRole('button', { name: 'Show less time' }).click();
    await until('the address', () => expect(page.url()).toMatch(/&restart=1&last=\d+$/));
    const { hash } = new URL(page.url());

    await page.goBack();
    await page.getByText(/since the creation.*; times in UTC/).waitFor();
    await page.goBack();
    await page.goBack();
    await heading(page, /w-0\/2/).waitFor({ state: 'detached' });
    await page.goForward();
    await heading(page, /w-0\/2/).waitFor();

    const again = await open(hash);
    await heading(again, /w-0\/2/).waitFor();
    await again.getByText(/^the last .*; times in UTC/).waitFor();
  });

  it('ignores an address that means nothing', async () => {
    const page = await open(`${RUN}?member=<b>&restart=-1&from=9&to=1`);
    await page.getByText(/since the creation.*; times in UTC/).waitFor();
    expect(await page.getByText(/is gone/).count()).toBe(0);
  });

  it('keeps patterns of the timeline where the system forces its colours', async () => {
    const page = await open(RUN, { forcedColors: 'active' });
    const starting = page.locator('.timeline-segment.time-starting').first();
    await starting.waitFor();
    const styleOf = (selector: string, property: string): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
    expect(await styleOf('.timeline-segment.time-starting', 'backgroundImage')).toContain(
      'gradient',
    );
    expect(await styleOf('.timeline-segment.time-starting', 'borderTopStyle')).toBe('solid');
  });
});

describe('the spec', () => {
  it('says in words what was asked for', async () => {
    const page = await open(`${RUN}/spec`);
    await page.getByText(/in place, at most 10/).waitFor();
    await page.getByText('restartStrategy: InPlaceRestart').waitFor();
  });
});

/** Chooses an action, and returns its confirmation. */
async function choose(page: Page, title: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Actions' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: title }).click();
  await dialog.getByText('This command does the same').waitFor();
  return dialog;
}

/** A line says that it is done, and no dialog covers what happens. */
async function says(page: Page, done: string): Promise<void> {
  await page
    .getByRole('status')
    .filter({ hasText: `${NAME}: ${done}` })
    .waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  const focused = page.locator(':focus');
  expect(await focused.textContent()).toBe('Actions');
}

describe('actions', () => {
  it('suspends and resumes, after a confirmation that shows the command', async () => {
    const page = await open(RUN);
    const suspend = await choose(page, 'Suspend');
    await suspend.getByText(`kubectl patch -n default jobset ${NAME}`).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await suspend.getByRole('button', { name: 'Suspend' }).click();
    await says(page, 'It is suspended.');
    await page.getByText('Suspended', { exact: true }).first().waitFor();

    const resume = await choose(page, 'Resume');
    await resume.getByRole('button', { name: 'Resume' }).click();
    await says(page, 'It is resumed.');
    await page.locator('.badge', { hasText: 'Running' }).first().waitFor();
  });

  it('restarts the group', async () => {
    const page = await open(RUN);
    await page.locator('.badge', { hasText: 'Running' }).first().waitFor();
    const epoch = (group.status.deprecatedEpoch ?? 0) + 1;
    const dialog = await choose(page, 'Restart');
    await dialog.getByText(`lockstep restart ${NAME} -n default`).waitFor();
    await dialog.getByRole('button', { name: 'Restart' }).click();
    await says(page, 'The restart is asked for.');
    await page.getByRole('button', { name: new RegExp(`epoch ${epoch} ended`) }).waitFor();
  });

  it('changes a time-out, and says of another value why it would be refused', async () => {
    const page = await open(RUN);
    const dialog = await choose(page, 'time-out');
    for (const wrong of ['soon', '3s']) {
      await dialog.getByRole('textbox').fill(wrong);
      await dialog.getByText('It is refused: expected Off, Auto, or a duration').waitFor();
      await dialog.locator('button[type=submit]').click();
    }
    expect(await dialog.getByText('Nothing was done').count()).toBe(0);
    await dialog.getByRole('textbox').fill('5m');
    await dialog.locator('button[type=submit]').click();
    await says(page, 'The time-out is changed.');
    const { metadata } = await cluster.client.get(JOBSETS, { namespace: 'default', name: NAME });
    expect(Object.values(metadata.annotations ?? {})).toContain('5m');
  });
});

/** In CSS pixels. */
const WIDTH_BEYOND_WINDOW =
  'document.documentElement.scrollWidth - document.documentElement.clientWidth';

describe('every view', () => {
  const views = { list: '#/', run: RUN, spec: `${RUN}/spec` };
  const windows = {
    light: { colorScheme: 'light' },
    dark: { colorScheme: 'dark' },
    narrow: { colorScheme: 'light', width: 400 },
    zoomed: { colorScheme: 'light', width: 853, height: 600 },
    forced: { forcedColors: 'active' },
  } as const;
  const all = Object.entries(views).flatMap(([view, hash]) =>
    Object.entries(windows).map(([name, window]) => ({ view, hash, name, window })),
  );

  it.each(all)('can be used by everyone: $view, $name', async ({ view, hash, window }) => {
    const page = await open(hash, window);
    await page.getByText(NAME).first().waitFor();
    if (view === 'run') await page.getByRole('listbox', { name: /^Members/ }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const overflow = await page.evaluate(WIDTH_BEYOND_WINDOW);
    expect(overflow).toBe(0);
  });
});

it('deletes the JobSet when its name is typed, and says that it is gone', async () => {
  const page = await open(RUN);
  const dialog = await choose(page, 'Delete');
  const button = dialog.locator('button[type=submit]');
  expect(await button.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill(NAME);
  await button.click();
  await page.getByText('This JobSet was deleted.').waitFor();
  const found = await cluster.client
    .get(JOBSETS, { namespace: 'default', name: NAME })
    .catch((error: unknown) => error);
  const isGone = isReason(found, 'NotFound');
  const isEnding = !isGone && JSON.stringify(found).includes('deletionTimestamp');
  expect(isGone || isEnding).toBe(true);
});
