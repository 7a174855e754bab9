/** Containers that are added to a running Pod do not affect it. */

import { type ContainerStatus, PODS } from '@lockstep/kube/objects/pod.ts';
import type { FakeProcess } from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { container } from './test-api.fixture.ts';
import { TestNode } from './test-node.fixture.ts';

let node: TestNode;

beforeEach(async () => {
  const ignoreTerm = (self: FakeProcess): void => self.onSignal(() => undefined);
  node = new TestNode({ run: () => undefined, ignoreTerm });
  await node.start();
});

afterEach(async () => {
  await node.stop();
  expect(node.processes.running).toEqual([]);
  expect(node.logger.records.filter(({ level }) => level === 'error')).toEqual([]);
});

async function add(name: string, program: string): Promise<void> {
  const patch = { spec: { ephemeralContainers: [{ ...container(name, program), image: 'i' }] } };
  const options = { subresource: 'ephemeralcontainers' } as const;
  const at = { namespace: 'default', name: 'p' };
  await node.settled(node.api.client.patch(PODS, at, { type: 'strategic', patch }, options));
}

function look(name: string): ContainerStatus | undefined {
  return node.pod?.status?.ephemeralContainerStatuses?.find((one) => one.name === name);
}

it('are started beside what runs, once, and are never ready', async () => {
  await node.run({ containers: [container('a', 'run')] });
  await node.until((pod) => pod.status?.phase === 'Running');
  await add('look', 'run');
  await node.until(() => node.isRunning('look'));
  await node.until(() => look('look')?.state?.running !== undefined);
  expect(look('look')).toMatchObject({ ready: false, restartCount: 0 });
  node.process('look').exit(1);
  await node.until(() => look('look')?.state?.terminated?.exitCode === 1);
  await node.clock.advance(60_000);
  expect(node.isRunning('look')).toBe(false);
  expect(node.pod?.status?.phase).toBe('Running');
  expect(node.status('a')).toMatchObject({ restartCount: 0, ready: true });
});

it('are started although an init container holds the others back', async () => {
  await node.run({ initContainers: [container('i', 'run')], containers: [container('a', 'run')] });
  await node.until(() => node.isRunning('i'));
  await add('look', 'run');
  await node.until(() => node.isRunning('look'));
  expect(node.isRunning('a')).toBe(false);
});

it('run on while all others restart, and do not hold that up', async () => {
  const rules = [{ action: 'RestartPod', exitCodes: { operator: 'NotIn', values: [] } }] as const;
  await node.run({
    containers: [
      container('a', 'run', { restartPolicy: 'Never', restartPolicyRules: rules }),
      container('b', 'run'),
    ],
  });
  await node.until((pod) => pod.status?.phase === 'Running');
  await add('look', 'ignoreTerm');
  await node.until(() => node.isRunning('look'));
  const { pid } = node.process('look');
  node.process('a').exit(1);
  await node.until(() => node.status('b')?.restartCount === 1 && node.isRunning('b'));
  expect(node.process('look').pid).toBe(pid);
  expect(look('look')?.restartCount).toBe(0);
});

it('end with their Pod, and keep it from nothing', async () => {
  await node.run({ restartPolicy: 'Never', containers: [container('a', 'run')] });
  await node.until((pod) => pod.status?.phase === 'Running');
  await add('look', 'run');
  await node.until(() => node.isRunning('look'));
  node.process('a').exit(0);
  await node.until((pod) => pod.status?.phase === 'Succeeded');
  expect(node.isRunning('look')).toBe(false);
  expect(look('look')?.state?.terminated).toBeDefined();
});
