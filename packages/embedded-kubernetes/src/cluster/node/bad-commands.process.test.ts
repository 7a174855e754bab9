/**
 * Commands that behave badly, as real processes: the status reports each correctly, and nothing is
 * left.
 */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { type Container, type ContainerRestartRule, PODS } from '@lockstep/kube/objects/pod.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RealNode, sh } from './adapters/real-node.fixture.ts';

const GRACE = { gracePeriodSeconds: 1 };

let node: RealNode;

beforeEach(async () => {
  node = await RealNode.start();
});

/** It expects that no process, descriptor or directory is left. */
afterEach(() => node.stop());

async function notes(reason: string): Promise<readonly string[]> {
  const { items } = await node.api.client.list(EVENTS);
  return items.filter((event) => event.reason === reason).map(({ note }) => note ?? '');
}

function readiness(command: readonly string[]): Partial<Container> {
  return { readinessProbe: { exec: { command }, timeoutSeconds: 1, periodSeconds: 1 } };
}

describe('a command', () => {
  it.each([
    ['that does not exist', '/no/such/program', 'no such file or directory'],
    ['that is no program', 'program', 'permission denied'],
    ['that is a directory', 'directory', 'permission denied'],
    ['whose interpreter does not exist', 'orphan', 'no such file or directory'],
  ])('%s fails to start, and its Pod with it', async (_, name, text) => {
    const files = join(node.root, 'volumes');
    await mkdir(join(files, 'directory'), { recursive: true });
    await writeFile(join(files, 'program'), 'exit 0\n', { mode: 0o644 });
    await writeFile(join(files, 'orphan'), '#!/no/such/shell\n', { mode: 0o755 });
    const command = [join(files, name)];
    await node.api.run({ containers: [{ name: 'c', image: 'i', command }] });
    await node.untilPhase('Failed');
    expect(node.api.status('c')?.state?.terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      message: expect.stringContaining(text),
    });
    await rm(files, { recursive: true });
  });

  it('that ends at once under a rule that restarts all restarts the others each time', async () => {
    const restartPolicyRules: readonly ContainerRestartRule[] = [
      { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } },
    ];
    await node.api.run({
      containers: [
        sh('c', 'exit 1', { restartPolicy: 'Never', restartPolicyRules }),
        sh('d', 'exec sleep 100'),
      ],
    });
    await until('three restarts', () =>
      expect(node.api.status('d')?.restartCount).toBeGreaterThanOrEqual(3),
    );
    expect(node.api.pod?.status?.phase).not.toBe('Failed');
  });

  it('that ends at once under Always backs off, with its code', async () => {
    await node.api.run({ restartPolicy: 'Always', containers: [sh('c', 'exit 3')] });
    await until('it waits', () =>
      expect(node.api.status('c')?.state?.waiting?.reason).toBe('CrashLoopBackOff'),
    );
    expect(node.api.status('c')).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 3 } },
    });
  });

  it('that leaves a binary message gets a readable one', async () => {
    const write = String.raw`printf 'a\377b' >"$LOCKSTEP_ROOT/dev/termination-log"; exit 1`;
    await node.api.run({ containers: [sh('c', write)] });
    await node.untilPhase('Failed');
    expect(node.api.status('c')?.state?.terminated?.message).toBe('a\uFFFDb');
  });

  it('that replaces its message by a pipe or a directory leaves no message', async () => {
    const at = '"$LOCKSTEP_ROOT/dev/termination-log"';
    await node.api.run({
      containers: [
        sh('c', `rm ${at}; mkfifo ${at}; exit 1`),
        sh('d', `rm ${at}; mkdir ${at}; exit 2`),
      ],
    });
    await node.untilPhase('Failed');
    const ends = ['c', 'd'].map((name) => node.api.status(name)?.state?.terminated);
    expect(ends.map((end) => [end?.exitCode, end?.message])).toEqual([
      [1, undefined],
      [2, undefined],
    ]);
  });

  it('that forks without end is ended with all its forks', async () => {
    const script =
      'trap "" TERM; n=0; while [ $n -lt 40 ]; do setsid sleep 100 & n=$((n+1)); done; wait';
    await node.api.run({ containers: [sh('c', script)] });
    await until('many processes', async () =>
      expect((await node.processes()).length).toBeGreaterThan(40),
    );
    await node.api.client.delete(PODS, { namespace: 'default', name: 'p' }, GRACE);
    await until('the Pod is gone', () => node.api.pod === undefined);
    expect(await node.processes()).toEqual([]);
  });
});

describe('a probe', () => {
  it('that hangs fails at its time-out, and is ended', async () => {
    const hang = ['sh', '-c', 'trap "" TERM; setsid sleep 100 & while :; do sleep 1; done'];
    await node.api.run({ containers: [sh('c', 'exec sleep 100', readiness(hang))] });
    await node.untilPhase('Running');
    await until('a probe fails', async () => (await notes('Unhealthy')).length > 0);
    expect(await notes('Unhealthy')).toContainEqual(expect.stringContaining('timed out'));
    expect(node.api.status('c')).toMatchObject({ ready: false, restartCount: 0 });
  });

  it('that writes without end fails at its time-out', async () => {
    const noisy = ['sh', '-c', 'while :; do echo yes; done'];
    await node.api.run({ containers: [sh('c', 'exec sleep 100', readiness(noisy))] });
    await until('a probe fails', async () => (await notes('Unhealthy')).length > 0);
    const longest = Math.max(...(await notes('Unhealthy')).map((note) => note.length));
    expect(longest).toBeLessThan(1_100);
  });

  it('whose command does not exist does not fail the container', async () => {
    const missing = readiness(['/no/such/program']);
    await node.api.run({ containers: [sh('c', 'exec sleep 100', missing)] });
    await node.untilPhase('Running');
    await until('a probe fails', async () => (await notes('Unhealthy')).length > 0);
    expect(node.api.status('c')).toMatchObject({ ready: false, restartCount: 0 });
  });
});
