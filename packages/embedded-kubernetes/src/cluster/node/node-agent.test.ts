/**
 * The node itself, in memory: its object and lease, tokens, an earlier life, and Pods that share
 * its address.
 */

import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { PortClaims } from './pod-addresses.ts';
import { startNode } from './started-node.fixture.ts';
import { container } from './test-api.fixture.ts';

describe('the node', () => {
  it('registers itself and renews its lease', async () => {
    const node = await startNode();
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
    const node = await startNode();
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
    const node = await startNode({}, {}, (api) =>
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
    const node = await startNode({}, { network: SHARED });
    await node.run({ containers: [container('a', 'run', { ports: [{ containerPort: 29_500 }] })] });
    await node.until((pod) => pod.status?.phase === 'Running');
    expect(node.pod?.status?.podIP).toBe('127.0.0.1');
    expect(node.process('a').command.env['LOCKSTEP_PORT_29500']).toBe('40001');
  });

  it('a Pod that needs a port which another has says so, and waits for it', async () => {
    const node = await startNode({}, { network: SHARED });
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
