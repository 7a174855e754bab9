/** What follows from the probes of a container, on a node in memory. */
import { describe, expect, it } from 'vitest';
import { RESTARTING, startNode } from './started-node.fixture.ts';
import { container } from './test-api.fixture.ts';

describe('probes', () => {
  it('ask over gRPC how the service is', async () => {
    const node = await startNode();
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

  it('count nothing while all containers restart, and begin again after it', async () => {
    const node = await startNode();
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
    const node = await startNode();
    node.answer = () => ({ status, redirectedTo: undefined });
    const readinessProbe = { httpGet: { port: 80 } };
    await node.run({ containers: [container('c', 'run', { readinessProbe })] });
    await node.clock.advance(1_000);
    expect(node.status('c')?.ready).toBe(isReady);
    const failure = `Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: ${status}`;
    expect((await node.events()).includes(failure)).toBe(!isReady);
  });

  it('warn of an answer that leads elsewhere, and take it for a success', async () => {
    const node = await startNode();
    node.answer = () => ({ status: 302, redirectedTo: 'http://example.com/' });
    const readinessProbe = { httpGet: { port: 80 } };
    await node.run({ containers: [container('c', 'run', { readinessProbe })] });
    await node.until(() => node.status('c')?.ready === true);
    expect(await node.events()).toContain(
      'ProbeWarning: Readiness probe warning: Probe terminated redirects, location: http://example.com/',
    );
  });
});
