/**
 * What Kubernetes itself tests of restart rules (its end-to-end test `container_restart_policy.go`)
 * and what KEP-5532 lists for the restart of all containers. A node that is killed meanwhile, and
 * Jobs, have tests of their own.
 */

import type {
  Container,
  ContainerRestartRule,
  Pod,
  RestartPolicy,
} from '@lockstep/kube/objects/pod.ts';
import type { FakeProcess } from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { container } from './test-api.fixture.ts';
import { TestNode } from './test-node.fixture.ts';

function onExit(action: ContainerRestartRule['action'], code: number): Partial<Container> {
  const exitCodes = { operator: 'In', values: [code] } as const;
  return { restartPolicy: 'Never', restartPolicyRules: [{ action, exitCodes }] };
}

const RESTART_ALL_ON_42 = onExit('RestartAllContainers', 42);
const SIDECAR = { restartPolicy: 'Always' } as const;

let node: TestNode;

afterEach(() => node.stop());

async function run(spec: Partial<Pod['spec']>): Promise<void> {
  node = new TestNode({ run: () => undefined, exit0: (self: FakeProcess) => self.exit(0) });
  await node.start();
  await node.run(spec);
}

async function exit(name: string, code: number): Promise<void> {
  await node.until(() => node.isRunning(name));
  node.process(name).exit(code);
  await node.clock.settle();
}

/** Restart counts by container, once the whole Pod runs. */
async function countsWhenRunning(): Promise<Readonly<Record<string, number>>> {
  await node.until((pod) => {
    const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
    return pod.status?.phase === 'Running' && ready?.status === 'True';
  });
  const { initContainerStatuses = [], containerStatuses = [] } = node.pod?.status ?? {};
  return Object.fromEntries(
    [...initContainerStatuses, ...containerStatuses].map((one) => [one.name, one.restartCount]),
  );
}

describe('a container that exits', () => {
  it.each<
    [name: string, pod: RestartPolicy, own: Partial<Container>, code: number, restarts: boolean]
  >([
    ['by a Restart rule', 'Never', onExit('Restart', 42), 42, true],
    ['not when no rule matches', 'Never', onExit('Restart', 42), 1, false],
    ['not under its own Never', 'Always', { restartPolicy: 'Never' }, 1, false],
    ['under its own Always', 'Never', { restartPolicy: 'Always' }, 1, true],
    ['under the Always of its Pod', 'Always', {}, 1, true],
  ])('restarts %s', async (_name, restartPolicy, own, code, restarts) => {
    await run({ restartPolicy, containers: [container('c', 'run', own)] });
    await exit('c', code);
    if (restarts) {
      await node.until(() => node.isRunning('c') && node.status('c')?.restartCount === 1);
    } else {
      await node.until((pod) => pod.status?.phase === 'Failed');
      expect(node.status('c')?.restartCount).toBe(0);
    }
  });
});

describe('a restart of all containers', () => {
  const fourContainers = (source: string): Partial<Pod['spec']> => {
    const rule = (name: string): Partial<Container> => (name === source ? RESTART_ALL_ON_42 : {});
    return {
      volumes: [{ name: 'd', emptyDir: {} }],
      initContainers: [
        container('i', 'exit0'),
        container('side', 'run', { ...rule('side'), ...SIDECAR }),
      ],
      containers: [
        container('a', 'run', { volumeMounts: [{ name: 'd', mountPath: '/d' }], ...rule('a') }),
        container('b', 'run'),
      ],
    };
  };

  it.each([
    ['a regular container', 'a'],
    ['a sidecar', 'side'],
  ])('begins with %s, and all run again with their volumes', async (_name, source) => {
    await run(fourContainers(source));
    expect(await countsWhenRunning()).toEqual({ i: 0, side: 0, a: 0, b: 0 });
    const { uid } = node.pod?.metadata ?? {};
    const kept = `/state/pods/${uid}/volumes/d/kept`;
    await node.files.write(kept, Buffer.from('x'));
    await exit(source, 42);
    expect(await countsWhenRunning()).toEqual({ i: 1, side: 1, a: 1, b: 1 });
    for (const name of ['i', 'side', 'a', 'b']) {
      expect(node.status(name)?.lastState?.terminated?.exitCode).toBe(137);
    }
    expect(node.files.paths).toContain(kept);
  });

  it('begins with an init container: those before it run again, then the rest starts', async () => {
    await run({
      initContainers: [
        container('i', 'exit0'),
        container('side', 'run', SIDECAR),
        container('j', 'run', RESTART_ALL_ON_42),
      ],
      containers: [container('c', 'run')],
    });
    await exit('j', 42);
    await node.until(() => node.status('j')?.restartCount === 1);
    await exit('j', 0);
    expect(await countsWhenRunning()).toEqual({ i: 1, side: 1, j: 1, c: 0 });
  });

  it('that two containers ask for is one', async () => {
    await run({
      containers: [
        container('a', 'run', RESTART_ALL_ON_42),
        container('b', 'run', RESTART_ALL_ON_42),
      ],
    });
    await countsWhenRunning();
    for (const name of ['a', 'b']) node.process(name).exit(42);
    await node.clock.advance(60_000);
    expect(await countsWhenRunning()).toEqual({ a: 1, b: 1 });
  });

  it('takes a container along that has restarted alone before', async () => {
    const both: Partial<Container> = {
      restartPolicy: 'Never',
      restartPolicyRules: [
        { action: 'Restart', exitCodes: { operator: 'In', values: [1] } },
        ...(RESTART_ALL_ON_42.restartPolicyRules ?? []),
      ],
    };
    await run({ containers: [container('a', 'run', both), container('b', 'run')] });
    await countsWhenRunning();
    await exit('a', 1);
    await node.until(() => node.status('a')?.restartCount === 1);
    await exit('a', 42);
    await node.until(() => node.status('b')?.restartCount === 1);
    expect(await countsWhenRunning()).toEqual({ a: 2, b: 1 });
  });

  it.each(['i', 'j'])('begins with init container %s', async (source) => {
    const rule = (name: string): Partial<Container> => (name === source ? RESTART_ALL_ON_42 : {});
    await run({
      initContainers: [container('i', 'run', rule('i')), container('j', 'run', rule('j'))],
      containers: [container('c', 'run')],
    });
    if (source === 'j') await exit('i', 0);
    await exit(source, 42);
    await node.until(() => node.status(source)?.restartCount === 1);
    await exit('i', 0);
    await exit('j', 0);
    expect(await countsWhenRunning()).toEqual({ i: 1, j: source === 'j' ? 1 : 0, c: 0 });
  });

  const initAndWorker = (restartPolicy: RestartPolicy): Partial<Pod['spec']> => ({
    restartPolicy,
    initContainers: [container('i', 'run')],
    containers: [container('c', 'run', RESTART_ALL_ON_42)],
  });

  it('fails the Pod when an init container fails in it under Never', async () => {
    await run(initAndWorker('Never'));
    await exit('i', 0);
    await exit('c', 42);
    await node.until(() => node.status('i')?.restartCount === 1);
    await exit('i', 1);
    await node.until((pod) => pod.status?.phase === 'Failed');
  });

  it('continues when an init container fails in it under Always and succeeds later', async () => {
    await run(initAndWorker('Always'));
    await exit('i', 0);
    await exit('c', 42);
    await node.until(() => node.status('i')?.restartCount === 1);
    await exit('i', 1);
    await exit('i', 0);
    expect(await countsWhenRunning()).toEqual({ i: 2, c: 1 });
  });

  it('begins with a sidecar that ends before any regular container has started', async () => {
    await run({
      initContainers: [
        container('side', 'run', { ...RESTART_ALL_ON_42, ...SIDECAR }),
        container('i', 'run'),
      ],
      containers: [container('c', 'run')],
    });
    await node.until(() => node.isRunning('i'));
    await exit('side', 42);
    await node.until(() => node.status('i')?.restartCount === 1);
    await exit('i', 0);
    expect(await countsWhenRunning()).toEqual({ side: 1, i: 1, c: 0 });
  });

  it('keeps UID and address, and says True, then False', async () => {
    await run(fourContainers('a'));
    await countsWhenRunning();
    const { metadata, status } = node.pod ?? {};
    await exit('a', 42);
    await countsWhenRunning();
    expect(node.pod?.metadata.uid).toBe(metadata?.uid);
    expect(node.pod?.status?.podIP).toBe(status?.podIP);
    const values = node.api.history.flatMap(
      (pod) =>
        pod.status?.conditions?.find(({ type }) => type === 'AllContainersRestarting')?.status ??
        [],
    );
    const changes = values.filter((value, index) => value !== values[index - 1]);
    expect(changes).toEqual(['False', 'True', 'False']);
  });
});
