/** A Pod on a node in memory: how it begins, what it waits for, and how it ends. */

import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { SIDECAR, startNode } from './started-node.fixture.ts';
import { container } from './test-api.fixture.ts';

describe('a Pod', () => {
  it('runs its init containers in order, then its containers', async () => {
    const node = await startNode();
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
    const node = await startNode();
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
    const node = await startNode();
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

  it('ends its sidecars after its containers, and succeeds with any exit code of theirs', async () => {
    const node = await startNode();
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
    const node = await startNode();
    await node.run({ containers: [container('c', 'nonsense')] });
    await node.until((pod) => pod.status?.phase === 'Failed');
    expect(node.status('c')?.state?.terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      message: expect.stringContaining('exec "nonsense": executable file not found in PATH'),
    });
  });

  it('runs nothing for a container without a command', async () => {
    const node = await startNode();
    await node.run({ containers: [{ name: 'c', image: 'busybox' }] });
    await node.until(() => node.status('c')?.state?.waiting?.reason === 'ErrImagePull');
    expect(node.status('c')?.state?.waiting?.message).toContain('has no command');
  });

  it('keeps fields that this node ignores, and reports them once', async () => {
    const node = await startNode();
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
    const node = await startNode();
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
    const node = await startNode();
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

describe('the end of a Pod', () => {
  const at = { namespace: 'default', name: 'p' };

  it('is asked for by SIGTERM and enforced after its grace', async () => {
    const node = await startNode();
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
    const node = await startNode();
    await node.run({ containers: [container('b', 'ignoreTerm')] });
    await node.until((pod) => pod.status?.phase === 'Running');
    await node.api.client.delete(PODS, at, { gracePeriodSeconds: 0 });
    await node.clock.advance(2_000);
    expect(node.processes.running).toEqual([]);
  });

  it('takes a Pod that never started', async () => {
    const node = await startNode();
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
    const node = await startNode();
    await node.run({ activeDeadlineSeconds: 60, containers: [container('a', 'run')] });
    await node.until((pod) => pod.status?.phase === 'Failed', 61_000);
    expect(node.pod?.status?.reason).toBe('DeadlineExceeded');
  });

  it('kills descendants that left the group', async () => {
    const node = await startNode();
    await node.run({ containers: [container('a', 'run')] });
    await node.until(() => node.isRunning('a'));
    const child = node.process('a').fork('own group');
    const leader = node.processes.running[0];
    leader?.exit(0);
    await node.until((pod) => pod.status?.phase === 'Succeeded');
    expect(child.isRunning).toBe(false);
  });
});
