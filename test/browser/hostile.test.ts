/** Texts of strangers: whatever a worker or a user writes is text on the page. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { type ClusterUnderTest, startCluster } from '../e2e/local-cluster.fixture.ts';
import { pages, type Served, serveDashboard } from './browser.fixture.ts';

const NAME = 'hostile';
const RUN = `#/jobset/default/${NAME}`;
const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
/** Escape sequences, and a mark that turns the direction of text. */
const CONTROLS = '\u001b[31mred\u001b]0;title\u0007 \u202Edesrever';

const browser = pages();
let cluster: ClusterUnderTest;
let served: Served;

beforeAll(async () => {
  cluster = await startCluster();
  served = await serveDashboard({ of: ['--kubeconfig', cluster.kubeconfig] });
  await cluster.client.create(JOBSETS, hostile());
});

afterAll(async () => {
  await served?.stop();
  await cluster?.stop();
});

it('are text in a log, however long a line is', async () => {
  const page = await browser.open(`${served.address}${RUN}`);
  await openMember(page);
  const lines = page.getByRole('region', { name: 'Lines of the log' });
  await lines.getByText(MARKUP).first().waitFor();
  await lines.getByText('after the long line').first().waitFor();
  const log = (await lines.textContent()) ?? '';
  for (const control of ['\u001b', '\u0007', '\u202E']) expect(log).not.toContain(control);
  expect(log).toContain('aaaa');
  await isUnharmed(page);
});

it('are text in last words and in the record of a restart', async () => {
  const page = await browser.open(`${served.address}${RUN}`);
  await page.getByRole('button', { name: /epoch 1 ended/ }).click();
  const restart = page.getByRole('region', { name: 'Epoch 1 ended' });
  await restart.getByText(MARKUP).first().waitFor();
  await isUnharmed(page);
});

it('are text in the spec', async () => {
  const page = await browser.open(`${served.address}${RUN}/spec`);
  await page.getByText(MARKUP).first().waitFor();
  await isUnharmed(page);
});

async function openMember(page: Page): Promise<void> {
  await page.getByRole('listbox', { name: /^Members/ }).focus();
  await page.keyboard.press('Enter');
}

/** Nothing of it became an element, ran, or made the page wider than its window. */
async function isUnharmed(page: Page): Promise<void> {
  expect(await page.locator('img, iframe, object, script:not([src])').count()).toBe(0);
  expect(await page.title()).toContain(NAME);
  const beyond = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(beyond).toBe(0);
}

/** One worker, which fails in its first epoch and runs on in its second. */
function hostile(): JobSet {
  const long = 'head -c 1048576 /dev/zero | tr "\\0" a; echo';
  const fails = '[ "$LOCKSTEP_EPOCH" != 1 ] || { printf "%s\\n" "$MARKUP" >&2; exit 3; }';
  const says = `printf '%s\\n%s\\n' "$MARKUP" "$CONTROLS"; ${long}; echo after the long line`;
  const script = `${says}; ${fails}; sleep 600 & wait`;
  const worker = {
    name: 'worker',
    image: 'none',
    command: ['/bin/sh', '-c', script],
    env: [
      { name: 'MARKUP', value: MARKUP },
      { name: 'CONTROLS', value: CONTROLS },
    ],
  };
  const template = {
    spec: {
      completionMode: 'Indexed',
      template: { spec: { containers: [worker], restartPolicy: 'Never' } },
    },
  } as const;
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: {
      name: NAME,
      namespace: 'default',
      annotations: { 'lockstep/restart-mode': 'Supervisor', 'example.com/note': MARKUP + CONTROLS },
    },
    spec: {
      failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 3 },
      replicatedJobs: [{ name: 'w', template }],
    },
  };
}
