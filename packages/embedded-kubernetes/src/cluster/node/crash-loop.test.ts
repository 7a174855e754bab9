/** What a container does and shows while it waits for its back-off. */

import { type Container, PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { container } from './test-api.fixture.ts';
import { TestNode } from './test-node.fixture.ts';

let node: TestNode;

afterEach(() => node.stop());

async function run(spec: Partial<Pod['spec']>): Promise<void> {
  node = new TestNode({ run: () => undefined });
  await node.start();
  await node.run(spec);
}

/** Lets the container end `count` times; each time but the last it starts again. */
async function crash(name: string, count: number, exitCode = 1): Promise<void> {
  for (let i = 0; i < count; i++) {
    await node.until(() => node.isRunning(name), 400_000);
    node.process(name).exit(exitCode);
    await node.clock.settle();
  }
  await node.until(() => node.status(name)?.state?.waiting?.reason === 'CrashLoopBackOff');
}

describe('a crash loop', () => {
  it('tells its delay as Go does', async () => {
    await run({ restartPolicy: 'Always', containers: [container('c', 'run')] });
    await crash('c', 5);
    expect(node.status('c')?.state?.waiting?.message).toMatch(/^back-off 1m20s restarting failed/);
  });

  it('may be one of successes', async () => {
    const own: Partial<Container> = {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [0] } }],
    };
    await run({ containers: [container('c', 'run', own)] });
    await crash('c', 2, 0);
    expect(node.status('c')).toMatchObject({
      state: { waiting: { message: expect.stringMatching(/^back-off 10s/) } },
      lastState: { terminated: { exitCode: 0, reason: 'Completed' } },
    });
  });

  it('of a container or a sidecar holds up no other', async () => {
    await run({
      restartPolicy: 'Always',
      initContainers: [container('side', 'run', { restartPolicy: 'Always' })],
      containers: [container('a', 'run'), container('b', 'run')],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    await crash('side', 2);
    await crash('a', 2);
    node.process('b').exit(1);
    await node.clock.advance(1_000);
    expect(['side', 'a', 'b'].map((name) => node.isRunning(name))).toEqual([false, false, true]);
    expect(node.pod?.status?.phase).toBe('Running');
  });

  it('of an init container holds back what follows', async () => {
    await run({
      restartPolicy: 'OnFailure',
      initContainers: [container('i', 'run'), container('j', 'run')],
      containers: [container('c', 'run')],
    });
    await crash('i', 2);
    expect(node.pod?.status?.phase).toBe('Pending');
    await node.clock.advance(8_000);
    expect(node.processes.running).toEqual([]);
    await node.until(() => node.isRunning('i'));
  });

  it('ends with another image, at once', async () => {
    await run({ restartPolicy: 'Always', containers: [container('c', 'run')] });
    await crash('c', 5);
    const patch = { spec: { containers: [{ name: 'c', image: 'other' }] } };
    const at = { namespace: 'default', name: 'p' };
    await node.api.client.patch(PODS, at, { type: 'strategic', patch });
    await node.clock.advance(1_000);
    expect(node.status('c')).toMatchObject({ image: 'other', state: { running: {} } });
    await crash('c', 1);
    expect(node.status('c')?.state?.waiting?.message).toMatch(/^back-off 10s/);
  });

  it('may come from a probe that gives up a container which then succeeds; that end is not shown', async () => {
    node = new TestNode({ run: (self) => self.onSignal(() => self.exit(0)) });
    await node.start();
    node.answer = () => {
      throw new Error('connection refused');
    };
    const livenessProbe = { tcpSocket: { port: 80 }, initialDelaySeconds: 1, failureThreshold: 1 };
    await node.run({
      restartPolicy: 'OnFailure',
      containers: [container('c', 'run', { livenessProbe }), container('d', 'run')],
    });
    await node.until(() => node.status('c')?.restartCount === 1 && node.isRunning('c'));
    await node.until(() => node.status('c')?.state?.waiting?.reason === 'CrashLoopBackOff');
    expect(node.status('c')?.lastState?.terminated?.exitCode).toBe(0);
    await node.until(() => node.status('c')?.restartCount === 2);
    const shown = node.api.history.flatMap(({ status }) => status?.containerStatuses ?? []);
    expect(shown.filter(({ state }) => state?.terminated !== undefined)).toEqual([]);
  });

  it('is forgotten when all containers restart', async () => {
    const rules: Partial<Container> = {
      restartPolicy: 'Always',
      restartPolicyRules: [
        { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } },
      ],
    };
    await run({ containers: [container('a', 'run', rules), container('b', 'run', rules)] });
    await node.until((pod) => pod.status?.phase === 'Running');
    await crash('a', 3);
    node.process('b').exit(42);
    await node.clock.advance(1_000);
    expect([node.isRunning('a'), node.isRunning('b')]).toEqual([true, true]);
  });
});
