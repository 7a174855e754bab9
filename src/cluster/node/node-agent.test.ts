import { afterEach, describe, expect, it } from 'vitest';
import { CONFIG_MAPS } from '../../kube/core.ts';
import { LEASES } from '../../kube/lease.ts';
import { type ContainerRestartRule, PODS } from '../../kube/pod.ts';
import type { FakeProcess } from '../../runtime/memory/memory-process-runner.ts';
import { PortClaims } from './network.ts';
import { container } from './test-api.fixture.ts';
import { TestNode } from './test-node.fixture.ts';

const RESTART_ALL_ON_FAILURE: readonly ContainerRestartRule[] = [
  { action: 'RestartPod', exitCodes: { operator: 'NotIn', values: [0] } },
];
const RESTARTING = { restartPolicy: 'Never', restartPolicyRules: RESTART_ALL_ON_FAILURE } as const;
const SIDECAR = { restartPolicy: 'Always', restartPolicyRules: RESTART_ALL_ON_FAILURE } as const;

const run = (): void => undefined;
const ignoreTerm = (self: FakeProcess): void => self.onSignal(() => undefined);

let node: TestNode;

async function start(
  programs: ConstructorParameters<typeof TestNode>[0] = { run, ignoreTerm },
  before?: Parameters<TestNode['start']>[0],
): Promise<void> {
  node = new TestNode(programs);
  await node.start(before);
}

afterEach(async () => {
  await node.stop();
  expect(node.processes.running).toEqual([]);
  expect(node.clock.pendingTimers).toBe(0);
  expect(node.files.paths.filter((path) => path.startsWith('/state/pods'))).toEqual([]);
  expect(node.logger.records.filter(({ level }) => level === 'error')).toEqual([]);
});

describe('a Pod', () => {
  it('runs its init containers in order, then its containers', async () => {
    await start();
    await node.run({
      initContainers: [container('i1', 'run'), container('i2', 'run')],
      containers: [container('c', 'run')],
    });
    await node.until(() => node.isRunning('i1'));
    expect([node.isRunning('i2'), node.isRunning('c')]).toEqual([false, false]);
    node.process('i1').exit(0);
    await node.until(() => node.isRunning('i2'));
    expect(node.isRunning('c')).toBe(false);
    node.process('i2').exit(0);
    await node.until((pod) => pod.status?.phase === 'Running');
    expect(node.status('i1')).toMatchObject({
      ready: true,
      state: { terminated: { exitCode: 0 } },
    });
    expect(node.pod?.status).toMatchObject({ podIP: '127.9.0.2', hostIP: '127.9.0.1' });
    node.process('c').exit(0);
    await node.until((pod) => pod.status?.phase === 'Succeeded');
  });

  it('fails when an init container does, and starts nothing more', async () => {
    await start();
    await node.run({
      initContainers: [container('i', 'run')],
      containers: [container('c', 'run')],
    });
    await node.until(() => node.isRunning('i'));
    node.process('i').exit(3);
    await node.until((pod) => pod.status?.phase === 'Failed');
    expect(node.processes.started).toHaveLength(1);
    expect(node.status('c')?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
  });

  it('waits for the startup probe of a sidecar before what follows', async () => {
    await start();
    let isUp = false;
    node.answer = () => ({ status: isUp ? 200 : 503, redirectedTo: undefined });
    await node.run({
      initContainers: [
        container('side', 'run', {
          ...SIDECAR,
          startupProbe: {
            httpGet: { path: '/barrier', port: 8080 },
            periodSeconds: 1,
            failureThreshold: 2_147_483_647,
          },
        }),
      ],
      containers: [container('c', 'run')],
    });
    await node.clock.advance(30_000);
    expect(node.isRunning('c')).toBe(false);
    expect(node.status('side')).toMatchObject({ started: false, restartCount: 0 });
    isUp = true;
    await node.until((pod) => pod.status?.phase === 'Running', 1_100);
    expect(node.status('side')).toMatchObject({ started: true, ready: true });
  });

  it('ends its sidecars after its containers, and succeeds whatever they leave with', async () => {
    await start();
    await node.run({
      initContainers: [container('s1', 'run', SIDECAR), container('s2', 'run', SIDECAR)],
      containers: [container('c', 'run')],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    node.process('c').exit(0);
    await node.until((pod) => pod.status?.phase === 'Succeeded');
    const ends = (await node.events()).filter((event) => event.startsWith('Killing'));
    expect(ends).toEqual(['Killing: Stopping container s2', 'Killing: Stopping container s1']);
    expect(node.status('s1')?.state?.terminated?.exitCode).toBe(143);
  });

  it('says so when a command does not exist', async () => {
    await start();
    await node.run({ containers: [container('c', 'nonsense')] });
    await node.until((pod) => pod.status?.phase === 'Failed');
    expect(node.status('c')?.state?.terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      message: expect.stringContaining('exec "nonsense": executable file not found in PATH'),
    });
  });

  it('runs nothing for a container without a command', async () => {
    await start();
    await node.run({ containers: [{ name: 'c', image: 'busybox' }] });
    await node.until(() => node.status('c')?.state?.waiting?.reason === 'ErrImagePull');
    expect(node.status('c')?.state?.waiting?.message).toContain('has no command');
  });

  it('keeps what this node does not do, and is told so once', async () => {
    await start();
    const securityContext = { runAsUser: 1000 };
    const spec = { containers: [container('c', 'run')], securityContext };
    await node.run(spec);
    await node.until((pod) => pod.status?.phase === 'Running');
    await node.clock.advance(60_000);
    const told = (await node.events()).filter((event) => event.startsWith('FieldsIgnored'));
    expect(told).toEqual([expect.stringMatching(/have no effect: securityContext$/)]);
    expect(node.pod?.spec).toMatchObject({ securityContext });
  });

  it('is ready once its readiness gates are open', async () => {
    await start();
    const conditionType = 'example.com/up';
    await node.run({ containers: [container('c', 'run')], readinessGates: [{ conditionType }] });
    const ready = (): string | undefined =>
      node.pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    await node.until((pod) => pod.status?.phase === 'Running');
    expect(ready()).toBe('False');
    const patch = { status: { conditions: [{ type: conditionType, status: 'True' }] } };
    await node.api.client.patch(
      PODS,
      { namespace: 'default', name: 'p' },
      { type: 'strategic', patch },
      { subresource: 'status' },
    );
    await node.until(() => ready() === 'True', 1_000);
  });

  it('waits for a ConfigMap that is missing, and starts once it is there', async () => {
    await start();
    await node.run({
      containers: [
        container('c', 'run', {
          env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }],
        }),
      ],
    });
    await node.until(
      () => node.status('c')?.state?.waiting?.reason === 'CreateContainerConfigError',
    );
    expect(node.status('c')?.state?.waiting?.message).toBe('configmap "m" not found');
    await node.api.client.create(CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'm', namespace: 'default' },
      data: { k: 'value' },
    });
    await node.until(() => node.isRunning('c'));
    expect(node.process('c').command.env['A']).toBe('value');
  });
});

/** Lets container `c` fail `count` times; gives the seconds until its next start. */
async function restartWaits(count: number): Promise<readonly number[]> {
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
    await start();
    await node.run({ restartPolicy: 'Always', containers: [container('c', 'run')] });
    expect(await restartWaits(8)).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
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
    node = new TestNode({ run }, { backoff });
    await node.start();
    await node.run({ restartPolicy: 'Always', containers: [container('c', 'run')] });
    expect(await restartWaits(expected.length)).toEqual(expected);
  });

  it('show CrashLoopBackOff with the exit code before as last state', async () => {
    await start();
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

  it('follow another image, whatever the policy and rules say (section 2.3)', async () => {
    await start();
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
    await start();
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

describe('probes', () => {
  it('ask over gRPC how the service is', async () => {
    await start();
    node.health = (service) => (service === 'api' ? 'NOT_SERVING' : 'SERVING');
    const grpc = { port: 80, service: 'api' };
    await node.run({
      restartPolicy: 'Always',
      containers: [
        container('c', 'run', { livenessProbe: { grpc, periodSeconds: 1, failureThreshold: 2 } }),
      ],
    });
    await node.until(() => node.processes.started.length === 2);
    expect(await node.events()).toContain(
      'Unhealthy: Liveness probe failed: service unhealthy (responded with "NOT_SERVING")',
    );
  });

  it('count nothing while all containers restart, and begin anew after it (section 3.5)', async () => {
    await start();
    const livenessProbe = { tcpSocket: { port: 80 }, periodSeconds: 1, failureThreshold: 1 };
    await node.run({
      containers: [
        container('a', 'run', RESTARTING),
        container('b', 'ignoreTerm', { livenessProbe }),
      ],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    node.answer = () => {
      throw new Error('connection refused');
    };
    node.process('a').exit(1);
    await node.clock.advance(1_900);
    node.answer = () => ({ status: 200, redirectedTo: undefined });
    await node.clock.advance(30_000);
    expect([node.status('a')?.restartCount, node.status('b')?.restartCount]).toEqual([1, 1]);
    expect((await node.events()).filter((event) => event.startsWith('Unhealthy'))).toEqual([]);
  });

  it.each([
    [199, false],
    [200, true],
    [399, true],
    [400, false],
  ])('take an answer of %i for a success: %s', async (status, isReady) => {
    await start();
    node.answer = () => ({ status, redirectedTo: undefined });
    const readinessProbe = { httpGet: { port: 80 } };
    await node.run({ containers: [container('c', 'run', { readinessProbe })] });
    await node.clock.advance(1_000);
    expect(node.status('c')?.ready).toBe(isReady);
    const failure = `Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: ${status}`;
    expect((await node.events()).includes(failure)).toBe(!isReady);
  });

  it('warn of an answer that leads elsewhere, and take it for a success', async () => {
    await start();
    node.answer = () => ({ status: 302, redirectedTo: 'http://example.com/' });
    const readinessProbe = { httpGet: { port: 80 } };
    await node.run({ containers: [container('c', 'run', { readinessProbe })] });
    await node.until(() => node.status('c')?.ready === true);
    expect(await node.events()).toContain(
      'ProbeWarning: Readiness probe warning: Probe terminated redirects, location: http://example.com/',
    );
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
  const programs = { run, ignoreTerm, exit0: (self: FakeProcess) => self.exit(0) };

  it.each(['a', 'side'])('triggered by %s takes all down and up, in place', async (source) => {
    await start(programs);
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

  it('kills what ignores SIGTERM after two seconds, whatever its grace', async () => {
    await start(programs);
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
    await start({ fail: (self) => self.exit(1) });
    await node.run({ containers: [container('a', 'fail', RESTARTING)] });
    await node.clock.advance(10_000);
    expect(node.status('a')?.restartCount).toBeGreaterThan(10);
    expect(node.status('a')?.restartCount).toBeLessThan(25);
  });

  it('does not wait for an API server that does not answer', async () => {
    await start(programs);
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

  it('leaves a regular container down whatever its policy', async () => {
    await start();
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
    await start();
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
    await start();
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

describe('the end of a Pod', () => {
  const at = { namespace: 'default', name: 'p' };

  it('is asked for by SIGTERM and enforced after its grace', async () => {
    await start();
    await node.run({ containers: [container('a', 'run'), container('b', 'ignoreTerm')] });
    await node.until((pod) => pod.status?.phase === 'Running');
    await node.api.client.delete(PODS, at, { gracePeriodSeconds: 20 });
    await node.clock.advance(19_900);
    expect(node.isRunning('a')).toBe(false);
    expect(node.isRunning('b')).toBe(true);
    await node.clock.runUntil(() => node.pod === undefined, 1_000);
    expect(node.api.history.at(-1)?.status).toMatchObject({
      phase: 'Failed',
      containerStatuses: [
        { state: { terminated: { exitCode: 143 } } },
        { state: { terminated: { exitCode: 137 } } },
      ],
    });
    await node.clock.settle();
    expect(node.files.paths.filter((path) => path.includes('default_p'))).toEqual([]);
  });

  it('comes at once when the object is gone', async () => {
    await start();
    await node.run({ containers: [container('b', 'ignoreTerm')] });
    await node.until((pod) => pod.status?.phase === 'Running');
    await node.api.client.delete(PODS, at, { gracePeriodSeconds: 0 });
    await node.clock.advance(2_000);
    expect(node.processes.running).toEqual([]);
  });

  it('takes a Pod that never started', async () => {
    await start();
    await node.run({
      volumes: [{ name: 'v', configMap: { name: 'missing' } }],
      containers: [container('a', 'run')],
    });
    await node.clock.advance(1_000);
    expect(node.pod?.status?.phase).toBe('Pending');
    expect(await node.events()).toContain(
      'FailedMount: MountVolume.SetUp failed for volume "v" : configmap "missing" not found',
    );
    await node.api.client.delete(PODS, at);
    await node.clock.runUntil(() => node.pod === undefined, 1_000);
  });

  it('comes after activeDeadlineSeconds', async () => {
    await start();
    await node.run({ activeDeadlineSeconds: 60, containers: [container('a', 'run')] });
    await node.until((pod) => pod.status?.phase === 'Failed', 61_000);
    expect(node.pod?.status?.reason).toBe('DeadlineExceeded');
  });

  it('kills descendants that left the group', async () => {
    await start();
    await node.run({ containers: [container('a', 'run')] });
    await node.until(() => node.isRunning('a'));
    const child = node.process('a').fork('own group');
    const leader = node.processes.running[0];
    leader?.exit(0);
    await node.until((pod) => pod.status?.phase === 'Succeeded');
    expect(child.isRunning).toBe(false);
  });
});

describe('the node', () => {
  it('registers itself and renews its lease', async () => {
    await start();
    await node.clock.advance(11_000);
    const lease = await node.api.client.get(LEASES, { namespace: 'kube-node-lease', name: 'n1' });
    expect(lease).toMatchObject({ spec: { renewTime: '2026-01-01T00:00:10.000000Z' } });
    expect(await node.api.node()).toMatchObject({
      status: {
        declaredFeatures: ['RestartAllContainersOnContainerExits'],
        daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      },
    });
  });

  it('renews tokens before they expire', async () => {
    await start();
    await node.run({
      serviceAccountName: 'default',
      volumes: [
        { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      ],
      containers: [container('a', 'run')],
    });
    await node.until(() => node.isRunning('a'));
    const before = node.api.tokens;
    await node.clock.advance(3_000_000);
    expect(node.api.tokens).toBe(before + 1);
  });

  it('takes up Pods of a former life: what ran is lost, and its policy decides', async () => {
    const status = {
      name: 'a',
      state: { running: {} },
      ready: true,
      restartCount: 4,
      image: 'img',
      imageID: '',
      containerID: 'lockstep://old',
    };
    await start({ run }, (api) =>
      api.run(
        { restartPolicy: 'Always', containers: [container('a', 'run')] },
        { phase: 'Running', podIP: '127.9.0.9', containerStatuses: [status] },
      ),
    );
    await node.until(() => node.status('a')?.restartCount === 5);
    expect(node.status('a')?.lastState?.terminated).toMatchObject({
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
    });
    expect(node.pod?.status?.podIP).toBe('127.9.0.9');
  });
});

describe('where all Pods share one address', () => {
  const SHARED = {
    type: 'shared-address',
    hostIP: '127.0.0.1',
    claims: new PortClaims(),
    freePort: async () => 40_001,
  } as const;
  const barrier = { startupProbe: { httpGet: { port: 8080 } } };

  it('a Pod listens on a port of its own instead of the declared one', async () => {
    node = new TestNode({ run }, { network: SHARED });
    await node.start();
    await node.run({ containers: [container('a', 'run', { ports: [{ containerPort: 29_500 }] })] });
    await node.until((pod) => pod.status?.phase === 'Running');
    expect(node.pod?.status?.podIP).toBe('127.0.0.1');
    expect(node.process('a').command.env['LOCKSTEP_PORT_29500']).toBe('40001');
  });

  it('a Pod that needs a port which another has says so, and waits for it', async () => {
    node = new TestNode({ run }, { network: SHARED });
    await node.start();
    await node.api.run({ containers: [container('first', 'run', barrier)] }, undefined, 'q');
    await node.clock.runUntil(() => node.isRunning('first'), 1_000);
    await node.run({ containers: [container('second', 'run', barrier)] });
    await node.clock.advance(60_000);
    expect(node.isRunning('second')).toBe(false);
    const condition = node.pod?.status?.conditions?.find(
      ({ type }) => type === 'PodReadyToStartContainers',
    );
    expect(condition).toMatchObject({
      status: 'False',
      message: expect.stringContaining('port 8080 is in use: all Pods of this node share'),
    });
    await node.api.client.delete(PODS, { namespace: 'default', name: 'q' });
    await node.until(() => node.isRunning('second'));
  });
});
