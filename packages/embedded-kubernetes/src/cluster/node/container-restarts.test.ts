/** Restarts of containers on a node in memory: of one, by probes, of all, and of none. */

import { PODS } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { RESTARTING, SIDECAR, startNode } from './started-node.fixture.ts';
import { container } from './test-api.fixture.ts';
import type { TestNode } from './test-node.fixture.ts';

/** Lets container `c` fail `count` times; returns the seconds until its next start. */
async function restartWaits(node: TestNode, count: number): Promise<readonly number[]> {
  const waits: number[] = [];
  for (let i = 0; i < count; i++) {
    await node.until(() => node.isRunning('c'), 400_000);
    const before = node.clock.monotonic();
    node.process('c').exit(1);
    await node.until(() => node.processes.started.length === i + 2, 400_000);
    waits.push(Math.round((node.clock.monotonic() - before) / 1000));
  }
  return waits;
}

describe('restarts of one container', () => {
  it('happen at once the first time, then after 10, 20, 40, ... 300 seconds', async () => {
    const node = await startNode();
    await node.run({ restartPolicy: 'Always', containers: [container('c', 'run')] });
    expect(await restartWaits(node, 8)).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
    expect(node.status('c')?.restartCount).toBeGreaterThanOrEqual(7);
    expect(await node.events()).toContainEqual(
      expect.stringMatching(/^BackOff: Back-off restarting failed container c in pod p_default\(/),
    );
  });

  it.each([
    ['a maximum of its own', { maxContainerRestartPeriodMs: 25_000 }, [0, 10, 20, 25, 25]],
    ['a maximum below the first delay', { maxContainerRestartPeriodMs: 1_000 }, [0, 1, 1, 1, 1]],
    ['the reduced decay', { reduceDefaultDecay: true }, [0, 1, 2, 4, 8]],
  ] as const)('happen with %s as that says', async (_, backoff, expected) => {
    const node = await startNode({}, { backoff });
    await node.run({ restartPolicy: 'Always', containers: [container('c', 'run')] });
    expect(await restartWaits(node, expected.length)).toEqual(expected);
  });

  it('show CrashLoopBackOff with the exit code before as last state', async () => {
    const node = await startNode();
    await node.run({
      containers: [
        container('c', 'run', {
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
        }),
      ],
    });
    for (let i = 0; i < 2; i++) {
      await node.until(() => node.isRunning('c'));
      node.process('c').exit(42);
      await node.clock.settle();
    }
    await node.until(() => node.status('c')?.state?.waiting !== undefined);
    expect(node.status('c')).toMatchObject({
      restartCount: 1,
      state: {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: expect.stringMatching(
            /^back-off 10s restarting failed container=c pod=p_default/,
          ),
        },
      },
      lastState: { terminated: { exitCode: 42, reason: 'Error' } },
    });
    expect(node.pod?.status?.phase).toBe('Running');
    await node.until(() => node.isRunning('c'));
    node.process('c').exit(1);
    await node.until((pod) => pod.status?.phase === 'Failed');
  });

  it('follow another image, whatever the policy and rules say', async () => {
    const node = await startNode();
    await node.run({ containers: [container('c', 'run', RESTARTING), container('d', 'run')] });
    await node.until((pod) => pod.status?.phase === 'Running');
    const patch = { spec: { containers: [{ name: 'c', image: 'other' }] } };
    const at = { namespace: 'default', name: 'p' };
    await node.api.client.patch(PODS, at, { type: 'strategic', patch });
    await node.until(() => node.status('c')?.restartCount === 1);
    expect(node.status('c')).toMatchObject({
      image: 'other',
      ready: true,
      lastState: { terminated: { exitCode: 143 } },
    });
    expect(node.status('d')?.restartCount).toBe(0);
    expect(await node.events()).toContain(
      'Killing: Container c definition changed, will be restarted',
    );
    const phases = node.api.history.map(({ status }) => status?.phase);
    expect(new Set(phases)).toEqual(new Set(['Pending', 'Running']));
    const { conditions = [] } = node.pod?.status ?? {};
    expect(conditions[0]?.observedGeneration).toBe(node.pod?.metadata.generation);
  });

  it('follow a failing liveness probe', async () => {
    const node = await startNode();
    node.answer = () => {
      throw new Error('connection refused');
    };
    await node.run({
      restartPolicy: 'Always',
      containers: [
        container('c', 'run', {
          livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 2, failureThreshold: 3 },
        }),
      ],
    });
    const begin = node.clock.monotonic();
    await node.until(() => node.processes.started.length === 2);
    expect(node.clock.monotonic() - begin).toBe(4_000);
    expect(await node.events()).toContain(
      'Killing: Container c failed liveness probe, will be restarted',
    );
    expect(await node.events()).toContain('Unhealthy: Liveness probe failed: connection refused');
  });
});

describe('a restart of all containers', () => {
  const sidecarAndTwo = {
    volumes: [{ name: 'd', emptyDir: {} }],
    initContainers: [container('i', 'exit0'), container('side', 'run', SIDECAR)],
    containers: [
      container('a', 'run', {
        ...RESTARTING,
        volumeMounts: [{ name: 'd', mountPath: '/data' }],
      }),
      container('b', 'run'),
    ],
  };

  it.each(['a', 'side'])('triggered by %s takes all down and up, in place', async (source) => {
    const node = await startNode();
    await node.run(sidecarAndTwo);
    await node.until((pod) => pod.status?.phase === 'Running');
    const { uid } = node.pod?.metadata ?? {};
    await node.files.write(`/state/pods/${uid}/volumes/d/kept`, Buffer.from('x'));
    node.process(source).exit(7);
    await node.until(
      () => node.status('b')?.restartCount === 1 && node.status('b')?.ready === true,
    );
    expect(node.clock.monotonic()).toBeLessThan(500);
    for (const name of ['i', 'side', 'a', 'b']) {
      expect(node.status(name)).toMatchObject({
        restartCount: 1,
        lastState: { terminated: { exitCode: 137, reason: 'RestartingAllContainers' } },
      });
    }
    expect(node.pod).toMatchObject({ metadata: { uid }, status: { podIP: '127.9.0.2' } });
    expect(node.files.paths).toContain(`/state/pods/${uid}/volumes/d/kept`);
    const shown = node.api.history.find((pod) =>
      pod.status?.conditions?.some(
        ({ type, status }) => type === 'AllContainersRestarting' && status === 'True',
      ),
    );
    const statuses = [
      ...(shown?.status?.initContainerStatuses ?? []),
      ...(shown?.status?.containerStatuses ?? []),
    ];
    expect(statuses.find(({ name }) => name === source)?.state?.terminated?.exitCode).toBe(7);
  });

  it('kills a container that ignores SIGTERM after two seconds, with any grace period', async () => {
    const node = await startNode();
    await node.run({
      terminationGracePeriodSeconds: 300,
      containers: [container('a', 'run', RESTARTING), container('b', 'ignoreTerm')],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    const begin = node.clock.monotonic();
    node.process('a').exit(1);
    await node.clock.advance(1_999);
    expect(node.isRunning('a')).toBe(false);
    await node.until(() => node.isRunning('a') && node.isRunning('b'));
    expect(node.clock.monotonic() - begin).toBeLessThan(2_100);
  });

  it('is paced when a container fails at once', async () => {
    const node = await startNode({ fail: (self) => self.exit(1) });
    await node.run({ containers: [container('a', 'fail', RESTARTING)] });
    await node.clock.advance(10_000);
    expect(node.status('a')?.restartCount).toBeGreaterThan(10);
    expect(node.status('a')?.restartCount).toBeLessThan(25);
  });

  it('does not wait for an API server that does not answer', async () => {
    const node = await startNode();
    await node.run(sidecarAndTwo);
    await node.until((pod) => pod.status?.phase === 'Running');
    node.api.isOverloaded = true;
    node.process('a').exit(7);
    await node.clock.runUntil(() => node.processes.started.length === 8, 100);
    await node.clock.advance(60_000);
    node.api.isOverloaded = false;
    await node.until(
      () => node.status('a')?.restartCount === 1 && node.status('b')?.ready === true,
    );
  });
});

describe('Terminate', () => {
  const TERMINATE = [{ action: 'Terminate', exitCodes: { operator: 'In', values: [9] } }] as const;

  it('leaves a regular container down under any policy', async () => {
    const node = await startNode();
    await node.run({
      containers: [
        container('a', 'run', { restartPolicy: 'Always', restartPolicyRules: TERMINATE }),
        container('b', 'run'),
      ],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    node.process('a').exit(9);
    await node.clock.advance(60_000);
    expect(node.isRunning('a')).toBe(false);
    node.process('b').exit(0);
    await node.until((pod) => pod.status?.phase === 'Failed');
  });

  it('of a sidecar fails the Pod', async () => {
    const node = await startNode();
    await node.run({
      initContainers: [
        container('side', 'run', { restartPolicy: 'Always', restartPolicyRules: TERMINATE }),
      ],
      containers: [container('a', 'run')],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    node.process('side').exit(9);
    await node.until((pod) => pod.status?.phase === 'Failed');
    expect(node.isRunning('a')).toBe(false);
  });

  it('of an init container fails the Pod, with code 0 too', async () => {
    const node = await startNode();
    await node.run({
      initContainers: [
        container('i', 'run', {
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Terminate', exitCodes: { operator: 'In', values: [0] } }],
        }),
      ],
      containers: [container('a', 'run')],
    });
    await node.until(() => node.isRunning('i'));
    node.process('i').exit(0);
    await node.until((pod) => pod.status?.phase === 'Failed');
  });
});
