/**
 * Runs every manifest in `examples/restart-rules` with real processes, and checks what its first
 * comment says.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Stored } from '@lockstep/kube/meta.ts';
import { type ContainerStatus, PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { EXCEPTIONS } from '../kubernetes.ts';
import { type ClusterUnderTest, startCluster } from './local-cluster.fixture.ts';

const DIRECTORY = new URL('../../examples/restart-rules/', import.meta.url);
const NAMESPACE = 'default';
const RUN_TIMEOUT_MS = 60_000;

let cluster: ClusterUnderTest;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/** Runs the Pod to its end; returns it as it was right after its creation, and at the end. */
async function run(name: string): Promise<readonly [created: Stored<Pod>, ended: Stored<Pod>]> {
  const pod: Pod = parse(readFileSync(new URL(`${name}.yaml`, DIRECTORY), 'utf8'));
  const metadata = { ...pod.metadata, namespace: NAMESPACE };
  const created = await cluster.client.create(PODS, { ...pod, metadata });
  const options = { clock: nodeClock, random: systemRandom, timeoutMs: RUN_TIMEOUT_MS };
  const hasEnded = (each: Stored<Pod> | undefined): boolean =>
    each?.status?.phase === 'Succeeded' || each?.status?.phase === 'Failed';
  const at = { namespace: NAMESPACE, name };
  const ended = await waitFor(cluster.client, PODS, at, hasEnded, options);
  if (ended === undefined) throw new Error(`Pod ${name} is gone`);
  await cluster.client.delete(PODS, at);
  return [created, ended];
}

function statusOf(pod: Pod, container: string): ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  return [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
}

function restartsOf(pod: Pod): Readonly<Record<string, number>> {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const statuses = [...initContainerStatuses, ...containerStatuses];
  return Object.fromEntries(statuses.map(({ name, restartCount }) => [name, restartCount]));
}

describe('examples/restart-rules', () => {
  const tested: string[] = [];
  const example = (name: string, check: () => Promise<void>, isSkipped = false): void => {
    tested.push(name);
    it.skipIf(isSkipped)(name, check);
  };

  const hasNoRules = EXCEPTIONS.apiKnowsNoRestartRules;
  example(
    'restart',
    async () => {
      const [, ended] = await run('restart');
      expect(ended.status?.phase).toBe('Succeeded');
      expect(restartsOf(ended)).toEqual({ flaky: 2, steady: 0 });
      expect(statusOf(ended, 'flaky')?.lastState?.terminated?.exitCode).toBe(42);
    },
    hasNoRules,
  );

  const restartsNoPod = EXCEPTIONS.podsAreNotRestarted;
  example(
    'restart-all-containers',
    async () => {
      const [created, ended] = await run('restart-all-containers');
      expect(ended.status?.phase).toBe('Succeeded');
      expect(restartsOf(ended)).toEqual({ prepare: 1, sidecar: 1, worker: 1, helper: 1 });
      expect(statusOf(ended, 'helper')?.lastState?.terminated?.reason).toBe(
        'RestartingAllContainers',
      );
      expect(ended.metadata.uid).toBe(created.metadata.uid);
    },
    restartsNoPod,
  );

  example(
    'terminate',
    async () => {
      const [, ended] = await run('terminate');
      expect(ended.status?.phase).toBe('Failed');
      expect(restartsOf(ended)).toEqual({ misconfigured: 0, other: 0 });
      expect(statusOf(ended, 'other')?.state?.terminated?.exitCode).toBe(0);
    },
    EXCEPTIONS.apiKnowsNoTerminate,
  );

  example(
    'container-policy',
    async () => {
      const [, ended] = await run('container-policy');
      expect(ended.status?.phase).toBe('Failed');
      expect(restartsOf(ended)).toEqual({ retried: 1, once: 0 });
    },
    hasNoRules,
  );

  it('has no other example', () => {
    const files = readdirSync(DIRECTORY).map((file) => file.replace('.yaml', ''));
    expect(tested.toSorted()).toEqual(files.toSorted());
  });
});
