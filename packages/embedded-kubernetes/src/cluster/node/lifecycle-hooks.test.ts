/** Hooks of containers, and how containers are stopped. */

import { type Container, PODS } from '@lockstep/kube/objects/pod.ts';
import type { FakeProcess } from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { container } from './test-api.fixture.ts';
import { TestNode } from './test-node.fixture.ts';

const RESTART_ALL: Partial<Container> = {
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'NotIn' } }],
};
const HOOK = { exec: { command: ['hook'] } };
const AT = { namespace: 'default', name: 'p' };

let node: TestNode;
/** Hooks that run, each until the test ends it. */
let hooks: FakeProcess[];

async function start(): Promise<void> {
  hooks = [];
  node = new TestNode({
    run: () => undefined,
    ignoreTerm: (self) => self.onSignal(() => undefined),
    hook: (self) => void hooks.push(self),
    exit0: (self) => self.exit(0),
  });
  await node.start();
}

afterEach(() => node.stop());

/** The last hook that was started. */
function hook(): FakeProcess {
  const last = hooks.at(-1);
  if (last === undefined) throw new Error('no hook runs');
  return last;
}

async function killings(): Promise<readonly string[]> {
  return (await node.events()).filter((event) => event.startsWith('Killing'));
}

describe('a preStop hook', () => {
  it('runs before SIGTERM when its Pod ends', async () => {
    await start();
    await node.run({ containers: [container('c', 'run', { lifecycle: { preStop: HOOK } })] });
    await node.until((pod) => pod.status?.phase === 'Running');
    await node.api.client.delete(PODS, AT, { gracePeriodSeconds: 20 });
    await node.clock.advance(5_000);
    expect([node.isRunning('c'), hooks.length]).toEqual([true, 1]);
    hook().exit(0);
    await node.clock.runUntil(() => node.pod === undefined, 1_000);
    expect(node.api.history.at(-1)?.status?.containerStatuses?.[0]).toMatchObject({
      state: { terminated: { exitCode: 143 } },
    });
  });

  it('lasts at most the grace period, and the container gets the rest', async () => {
    await start();
    await node.run({ containers: [container('c', 'run', { lifecycle: { preStop: HOOK } })] });
    await node.until((pod) => pod.status?.phase === 'Running');
    await node.api.client.delete(PODS, AT, { gracePeriodSeconds: 20 });
    await node.clock.advance(19_900);
    expect(node.isRunning('c')).toBe(true);
    await node.clock.runUntil(() => node.pod === undefined, 1_000);
  });

  it('does not run when all containers restart', async () => {
    await start();
    await node.run({
      containers: [
        container('a', 'run', RESTART_ALL),
        container('b', 'run', { lifecycle: { preStop: HOOK } }),
      ],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    node.process('a').exit(1);
    await node.until(() => node.status('b')?.restartCount === 1 && node.isRunning('b'));
    expect(hooks).toEqual([]);
  });
});

describe('a postStart hook', () => {
  it('holds back what follows its sidecar, until it has ended', async () => {
    await start();
    await node.run({
      initContainers: [
        container('side', 'run', { restartPolicy: 'Always', lifecycle: { postStart: HOOK } }),
      ],
      containers: [container('c', 'run')],
    });
    await node.clock.advance(60_000);
    expect([node.isRunning('side'), node.isRunning('c')]).toEqual([true, false]);
    expect(node.status('side')?.started).toBe(false);
    hook().exit(0);
    await node.until((pod) => pod.status?.phase === 'Running');
  });

  it('that fails ends its container, which its policy then restarts', async () => {
    await start();
    await node.run({
      restartPolicy: 'OnFailure',
      containers: [container('c', 'run', { lifecycle: { postStart: HOOK } })],
    });
    await node.until(() => hooks.length === 1);
    hook().exit(1);
    await node.until(() => hooks.length === 2);
    expect((await node.events()).filter((text) => text.startsWith('FailedPostStartHook'))).toEqual([
      expect.any(String),
    ]);
  });

  it('runs again when all containers restart', async () => {
    await start();
    await node.run({
      containers: [
        container('a', 'run', RESTART_ALL),
        container('b', 'run', { lifecycle: { postStart: HOOK } }),
      ],
    });
    await node.until(() => hooks.length === 1);
    hook().exit(0);
    await node.until((pod) => pod.status?.phase === 'Running');
    node.process('a').exit(1);
    await node.until(() => hooks.length === 2);
  });
});

describe('the Events of containers that are stopped', () => {
  it('say so of those that all restart, but of no source', async () => {
    await start();
    await node.run({
      initContainers: [
        container('i', 'exit0'),
        container('side', 'run', { restartPolicy: 'Always' }),
      ],
      containers: [container('a', 'run', RESTART_ALL), container('b', 'run')],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    node.process('a').exit(42);
    await node.until(() => node.status('b')?.restartCount === 1);
    expect(await killings()).toEqual(['Killing: killing', 'Killing: killing']);
  });

  it('name those that go with their Pod', async () => {
    await start();
    await node.run({ containers: [container('a', 'run'), container('b', 'run')] });
    await node.until((pod) => pod.status?.phase === 'Running');
    await node.api.client.delete(PODS, AT);
    await node.clock.runUntil(() => node.pod === undefined, 1_000);
    expect(await killings()).toEqual([
      'Killing: Stopping container a',
      'Killing: Stopping container b',
    ]);
  });
});

describe('sidecars', () => {
  const sidecar = (name: string, more: Partial<Container> = {}) =>
    container(name, 'run', { restartPolicy: 'Always', ...more });

  it('that their startup probe gives up get its grace period, and start again under Never', async () => {
    await start();
    node.answer = () => {
      throw new Error('connection refused');
    };
    const startupProbe = {
      tcpSocket: { port: 80 },
      periodSeconds: 1,
      failureThreshold: 2,
      terminationGracePeriodSeconds: 5,
    };
    await node.run({
      terminationGracePeriodSeconds: 300,
      initContainers: [container('side', 'ignoreTerm', { restartPolicy: 'Always', startupProbe })],
      containers: [container('c', 'run')],
    });
    await node.until(() => node.isRunning('side'));
    const begin = node.clock.monotonic();
    await node.until(() => node.processes.started.length === 2);
    expect(node.clock.monotonic() - begin).toBe(7_000);
    expect(node.isRunning('c')).toBe(false);
    expect(await node.events()).toContain(
      'Killing: Container side failed startup probe, will be restarted',
    );
  });

  it('that their liveness probe gives up hold up no other', async () => {
    await start();
    const begin = node.clock.monotonic();
    node.answer = () => {
      if (node.clock.monotonic() - begin > 5_000) throw new Error('connection refused');
      return { status: 200, redirectedTo: undefined };
    };
    const livenessProbe = { httpGet: { port: 80 }, periodSeconds: 1, failureThreshold: 1 };
    await node.run({
      initContainers: [sidecar('side', { livenessProbe })],
      containers: [container('c', 'run')],
    });
    await node.until(() => node.status('side')?.restartCount === 1);
    expect([node.isRunning('c'), node.status('c')?.restartCount]).toEqual([true, 0]);
  });

  it('are killed when the grace of their Pod is over', async () => {
    await start();
    await node.run({
      terminationGracePeriodSeconds: 10,
      initContainers: [container('side', 'ignoreTerm', { restartPolicy: 'Always' })],
      containers: [container('c', 'run')],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    node.process('c').exit(0);
    await node.clock.advance(9_900);
    expect(node.isRunning('side')).toBe(true);
    await node.until((pod) => pod.status?.phase === 'Succeeded', 1_000);
    expect(node.status('side')?.state?.terminated?.exitCode).toBe(137);
  });

  it('are not started again once the containers are done', async () => {
    await start();
    await node.run({
      initContainers: [sidecar('s1'), container('s2', 'ignoreTerm', { restartPolicy: 'Always' })],
      containers: [container('c', 'run')],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    node.process('c').exit(0);
    await node.clock.settle();
    node.process('s1').exit(1);
    await node.until((pod) => pod.status?.phase === 'Succeeded');
    expect(node.status('s1')).toMatchObject({ restartCount: 0 });
  });
});
