/**
 * Walks through README's first look as a newcomer does: runs the example, kills a worker, stops one, and
 * asks what happened. After each command it waits until there is to see what the page promises.
 */

import { spawnSync } from 'node:child_process';
import type { Stored } from '@lockstep/kube/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '@lockstep/kube/objects/core.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstLook } from '../../src/cli/first-look.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { overviewRow } from '../../src/jobset/view/overview.ts';
import type { StatusView } from '../../src/jobset/view/status-view.ts';
import { allPages, ROOT } from '../../tools/documentation/page.ts';
import { hasKubectl } from './kubectl.fixture.ts';
import { type ClusterUnderTest, startCluster } from './local-cluster.fixture.ts';

const NAMESPACE = 'default';
const NAME = 'mnist';
const STEP_TIMEOUT_MS = 60_000;
/** The example saves a checkpoint every 100 steps. */
const AFTER_CHECKPOINT = 110;
const TEST_TIMEOUT_MS = 180_000;
/** Fewer would be over before a newcomer has read the next paragraph. */
const MIN_TRAINING_MS = 4 * 60_000;

let cluster: ClusterUnderTest;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.stop());

const readme = allPages().find(({ path }) => path === 'README.md');
const blocks = (readme?.blocks ?? []).filter(({ language }) => language === 'sh');
const [kill = '', stop = '', ask = ''] = blocks
  .filter(({ mark }) => mark === 'first-look')
  .map(({ text }) => text);
const apply = blocks.find(({ text }) => text.includes('kubectl apply -f examples/'))?.text ?? '';

function shell(script: string): string {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  const commands = script.replace(/^export KUBECONFIG=.*$/m, '');
  const args = ['-c', `set -e -o pipefail\n${commands}`];
  const options = { cwd: ROOT, env, encoding: 'utf8', timeout: STEP_TIMEOUT_MS } as const;
  const { status, stdout, stderr } = spawnSync('bash', args, options);
  expect(status, `${script}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

async function jobSetThat(isSo: (jobSet: Stored<JobSet>) => boolean): Promise<Stored<JobSet>> {
  const found = await waitFor(
    cluster.client,
    JOBSETS,
    { namespace: NAMESPACE, name: NAME },
    (jobSet) => jobSet !== undefined && isSo(jobSet),
    { clock: nodeClock, random: systemRandom, timeoutMs: STEP_TIMEOUT_MS },
  );
  if (found === undefined) throw new Error(`no JobSet ${NAME}`);
  return found;
}

/** The group runs, after so many restarts, and has saved something. */
function runsAfter(restarts: number): Promise<Stored<JobSet>> {
  return jobSetThat((jobSet) => {
    const { epoch, restarts: counted } = overviewRow(jobSet, null, Date.now());
    return epoch === restarts + 1 && counted === restarts;
  });
}

async function stepOf(): Promise<number> {
  const view = JSON.parse(shell(`npx lockstep status ${NAME} -o json`)) as StatusView;
  return view.jobSet.progress?.highestStep ?? 0;
}

/** Waits until it has done so many steps. */
async function trained(least: number): Promise<void> {
  const look = async (): Promise<void> => expect(await stepOf()).toBeGreaterThanOrEqual(least);
  await until(`step ${least}`, look, STEP_TIMEOUT_MS);
}

describe.skipIf(!hasKubectl())("README's first look", () => {
  it('leads through a kill, a hang and the report', { timeout: TEST_TIMEOUT_MS }, async () => {
    shell(apply);
    await runsAfter(0);
    await trained(AFTER_CHECKPOINT);

    expect(shell(kill)).toMatch(/mnist/);
    const killed = await runsAfter(1);
    expect(killed.status?.restartHistory?.[0]?.suspects?.[0]).toMatchObject({
      confidence: 'Certain',
      why: 'was killed by SIGKILL',
    });
    expect(shell(`npx lockstep status ${NAME}`)).toMatch(/1 of 5 restarts used/);
    await trained(AFTER_CHECKPOINT);

    shell(stop);
    const stopped = await runsAfter(2);
    expect(stopped.status?.restartHistory?.[0]?.suspects?.[0]).toMatchObject({
      confidence: 'Certain',
      why: expect.stringContaining('stopped'),
    });
    const report = shell(ask);
    expect(report).toContain('2 of 5 restarts used');
    expect(report).toMatch(/stopped/);

    // It continues from its checkpoint for minutes, and a later run does not find it.
    await trained(AFTER_CHECKPOINT);
    await cluster.client.delete(JOBSETS, { namespace: NAMESPACE, name: NAME });
    const isGone = async (): Promise<void> => {
      const claims = await cluster.client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: NAMESPACE });
      expect(claims.items).toEqual([]);
    };
    await until('the claim is gone', isGone, STEP_TIMEOUT_MS);
  });

  it('trains for minutes, whatever the machine', () => {
    const manifest = shell('cat examples/mnist/jobset.yaml');
    const setting = (name: string): number =>
      Number(new RegExp(`name: ${name}\\n +value: "(\\d+)"`).exec(manifest)?.[1]);
    const trainingMs = (setting('TRAINING_STEPS') / setting('STEPS_PER_SECOND')) * 1000;
    expect(trainingMs).toBeGreaterThanOrEqual(MIN_TRAINING_MS);
  });

  it('is the one that the page of `lockstep up` and the manifest show', () => {
    const { apply: applied, kill: killed, stop: paused, report } = firstLook();
    for (const [block, command] of [
      [apply, applied],
      [kill, killed],
      [stop, paused],
      [ask, report],
    ]) {
      expect(block).toContain(command);
    }
    const manifest = shell('cat examples/mnist/jobset.yaml');
    for (const command of [killed, paused]) expect(manifest).toContain(command);
  });
});
