/**
 * Nodes as real processes whose agents are killed while their Pods live. Needs the built `dist/`.
 */

import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICES } from '@lockstep/kube/objects/core.ts';
import { type ContainerStatus, PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADMINISTRATORS, type EmbeddedCluster, startEmbeddedCluster } from '../embedded-cluster.ts';
import { forkNode } from './adapters/forked-node.ts';

const SCRIPT = fileURLToPath(new URL('../../../../../dist/node.js', import.meta.url));
const LIMIT_MS = 30_000;

describe('a node that is a process', () => {
  let directory: string;
  let log: number;
  let cluster: EmbeddedCluster;
  let client: Client;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lockstep-nodes-'));
    log = openSync(join(directory, 'nodes.log'), 'a');
    cluster = await startEmbeddedCluster({
      clock: nodeClock,
      random: systemRandom,
      logger: SILENT,
      processes: createNodeProcessRunner(),
      stateDirectory: directory,
      path: process.env['PATH'] ?? '',
      nodes: [
        { name: 'n1', labels: {} },
        { name: 'n2', labels: {} },
      ],
      spawnNode: () => forkNode(SCRIPT, log),
    });
    client = cluster.connect('test', ADMINISTRATORS);
  });

  afterEach(async () => {
    await cluster.stop();
    closeSync(log);
    for (const name of ['n1', 'n2']) {
      const left = readdirSync(join(directory, 'nodes', name));
      expect(left.filter((each) => each !== 'logs')).toEqual([]);
    }
    rmSync(directory, { recursive: true });
  });

  async function run(spec: Partial<Pod['spec']>, name = 'p'): Promise<void> {
    await client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'default', name, labels: { app: 'group' } },
      spec: {
        nodeName: 'n1',
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 1,
        containers: [],
        ...spec,
      },
    });
  }

  function podThat(condition: (pod: Pod) => boolean): Promise<Pod> {
    const at = { namespace: 'default', name: 'p' };
    return waitFor(client, PODS, at, (pod) => pod !== undefined && condition(pod), {
      clock: nodeClock,
      random: systemRandom,
      timeoutMs: LIMIT_MS,
    }) as Promise<Pod>;
  }

  /** Kills the agent, and resolves when the next one runs. */
  async function killAgent(): Promise<void> {
    const before = cluster.nodes?.pids()['n1'];
    if (before === undefined) throw new Error('the agent does not run');
    process.kill(before, 'SIGKILL');
    await until('the next agent runs', () => {
      expect(cluster.nodes?.pids()['n1'] ?? before).not.toBe(before);
    });
  }

  it('loses no output and no exit code, and restarts nothing, over many deaths of its agent', async () => {
    const lines = 40;
    const count = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo line $i; sleep 0.1; done; exit 7`;
    await run({ containers: [{ name: 'main', image: 'sh', command: ['sh', '-c', count] }] });
    await podThat(({ status }) => status?.phase === 'Running');
    for (let i = 0; i < 4; i++) await killAgent();
    const ended = await podThat(({ status }) => status?.phase === 'Failed');
    expect(statusOf(ended)).toMatchObject({
      restartCount: 0,
      state: { terminated: { exitCode: 7, reason: 'Error' } },
    });
    let log = '';
    for await (const chunk of client.logs({ namespace: 'default', name: 'p' })) {
      log += new TextDecoder().decode(chunk);
    }
    const expected = Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join('');
    expect(log).toBe(expected);
  });

  it('notes the end of what ended while there was no agent', async () => {
    const script = 'while [ ! -e "$GATE" ]; do sleep 0.02; done; exit 5';
    const gate = join(directory, 'gate');
    const env = [{ name: 'GATE', value: gate }];
    const main = { name: 'main', image: 'sh', command: ['sh', '-c', script], env };
    await run({ restartPolicy: 'OnFailure', containers: [main] });
    await podThat(({ status }) => status?.phase === 'Running');
    const agent = cluster.nodes?.pids()['n1'] ?? 0;
    process.kill(agent, 'SIGKILL');
    writeFileSync(gate, '');
    const ended = await podThat((pod) => (statusOf(pod)?.restartCount ?? 0) > 0);
    expect(statusOf(ended)?.lastState?.terminated?.exitCode).toBe(5);
  });

  it('that loses power reports its containers as lost, and restarts them by their policy', async () => {
    const script = 'sleep 1000';
    await run({
      restartPolicy: 'Always',
      containers: [{ name: 'main', image: 'sh', command: ['sh', '-c', script] }],
    });
    await podThat(({ status }) => status?.phase === 'Running');
    await cluster.nodes?.act('n1', 'kill');
    expect(Object.keys(cluster.nodes?.pids() ?? {})).toEqual(['n2']);
    await cluster.nodes?.act('n1', 'start');
    const back = await podThat((pod) => {
      const status = statusOf(pod);
      return status?.restartCount === 1 && status.state?.running !== undefined;
    });
    expect(statusOf(back)?.lastState?.terminated).toMatchObject({
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
    });
  });

  it('finds the Pods of other nodes by name', async () => {
    await client.create(SERVICES, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', name: 'group' },
      spec: { clusterIP: 'None', selector: { app: 'group' } },
    });
    const sleeper = { name: 'main', image: 'sh', command: ['sleep', '1000'] };
    await run(
      { nodeName: 'n2', hostname: 'far', subdomain: 'group', containers: [sleeper] },
      'far',
    );
    const script = 'until grep -q "far.group.default.svc" "$LOCKSTEP_HOSTS"; do sleep 0.05; done';
    await run({ containers: [{ name: 'main', image: 'sh', command: ['sh', '-c', script] }] });
    await podThat(({ status }) => status?.phase === 'Succeeded');
  });

  it('does what it was told to while its agent hung', async () => {
    await run({ containers: [{ name: 'main', image: 'sh', command: ['sleep', '1000'] }] });
    await podThat(({ status }) => status?.phase === 'Running');
    await cluster.nodes?.act('n1', 'stop');
    const at = { namespace: 'default', name: 'p' };
    await client.delete(PODS, at);
    await cluster.nodes?.act('n1', 'start');
    await waitFor(client, PODS, at, (pod) => pod === undefined, {
      clock: nodeClock,
      random: systemRandom,
      timeoutMs: LIMIT_MS,
    });
  });
});

function statusOf({ status }: Pod): ContainerStatus | undefined {
  return status?.containerStatuses?.[0];
}
