/**
 * A node whose disk is full for a while: Pods wait and report it, running ones continue, nothing is
 * left behind.
 */

import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { RESTARTING, startNode } from './started-node.fixture.ts';
import { container } from './test-api.fixture.ts';

const NO_SPACE = 'ENOSPC: no space left on device';

const isRunning = ({ status }: Pod): boolean => status?.phase === 'Running';

describe('while the disk is full', () => {
  it('a Pod waits for its directory, says why, and runs once there is room', async () => {
    const node = await startNode();
    node.files.isFull = true;
    await node.run({ containers: [container('c', 'run')] });
    await node.clock.advance(30_000);
    expect(node.pod?.status?.phase).toBe('Pending');
    expect(await node.events()).toContainEqual(
      expect.stringMatching(`^FailedCreatePodSandBox: ${NO_SPACE}`),
    );
    node.files.isFull = false;
    await node.until(isRunning);
  });

  it('a container that ended waits for its next run and says why', async () => {
    const node = await startNode();
    await node.run({ restartPolicy: 'Always', containers: [container('c', 'run')] });
    await node.until(isRunning);
    node.files.isFull = true;
    node.process('c').exit(7);
    await node.until(() => node.status('c')?.state?.waiting?.reason === 'CreateContainerError');
    expect(node.status('c')).toMatchObject({
      state: { waiting: { message: expect.stringContaining(NO_SPACE) } },
      lastState: { terminated: { exitCode: 7 } },
    });
    node.files.isFull = false;
    await node.until(() => node.status('c')?.state?.running !== undefined);
    expect(node.status('c')?.restartCount).toBe(1);
  });

  it('a restart of all containers is begun, and completed once there is room', async () => {
    const node = await startNode();
    await node.run({ containers: [container('a', 'run', RESTARTING), container('b', 'run')] });
    await node.until(isRunning);
    node.files.isFull = true;
    node.process('a').exit(1);
    await node.clock.advance(30_000);
    expect([node.isRunning('a'), node.isRunning('b')]).toEqual([false, false]);
    node.files.isFull = false;
    await node.until(
      () => node.status('a')?.restartCount === 1 && node.status('b')?.ready === true,
    );
    expect(node.isRunning('a') && node.isRunning('b')).toBe(true);
  });

  it('a container continues writing, and its end is known', async () => {
    const node = await startNode();
    await node.run({ containers: [container('c', 'run')] });
    await node.until(isRunning);
    node.files.isFull = true;
    node.process('c').write('stdout', 'lost\n');
    node.process('c').exit(3);
    await node.until((pod) => pod.status?.phase === 'Failed');
    expect(node.status('c')?.state?.terminated?.exitCode).toBe(3);
    const told = node.logger.records.filter(({ level }) => level === 'warn');
    expect(told.map(({ message }) => message)).toContain('what a container writes is lost');
    node.files.isFull = false;
  });
});
