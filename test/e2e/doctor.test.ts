/** `lockstep doctor` as a user runs it: what it finds, and that it leaves nothing behind. */

import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { AGENT_MODES, EXCEPTIONS } from '../kubernetes.ts';
import { type ClusterUnderTest, LOCKSTEP, startCluster } from './local-cluster.fixture.ts';

const run = promisify(execFile);
const PROBES = { namespace: 'default', labelSelector: 'lockstep/doctor' };

let cluster: ClusterUnderTest;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(() => cluster.stop());

function argv(...args: readonly string[]): string[] {
  return [LOCKSTEP, 'doctor', '--kubeconfig', cluster.kubeconfig, ...args];
}

async function findings(...args: readonly string[]): Promise<readonly Finding[]> {
  const { stdout } = await run(process.execPath, argv('-o', 'json', ...args));
  return (JSON.parse(stdout) as { readonly findings: readonly Finding[] }).findings;
}

async function probes(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(PODS, PROBES);
  return items.map(({ metadata }) => metadata.name);
}

async function cordon(unschedulable: boolean): Promise<void> {
  const { items } = await cluster.client.list(NODES);
  const patch = { type: 'merge', patch: { spec: { unschedulable } } } as const;
  for (const { metadata } of items) await cluster.client.patch(NODES, metadata, patch);
}

describe('lockstep doctor', () => {
  test('finds no problem in a cluster that is well', async () => {
    const { stdout } = await run(process.execPath, argv());
    // Without sidecar mode, there is something to know about the version.
    const level = EXCEPTIONS.podsAreNotRestarted ? 'note {9}version: ' : 'ok {11}version: ';
    expect(stdout).toMatch(new RegExp(`^Kubernetes\\n {2}${level}the API server runs`));
    expect(stdout).toMatch(/\nno problem/);
    expect(stdout).toContain('the API server reaches the webhooks');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test('looks from inside a Pod, and removes it', async () => {
    const [mode] = AGENT_MODES;
    const { client, shared: directory } = cluster;
    const group = await WorkerGroup.start({ client, directory, name: 'probed', mode, size: 2 });
    await group.running(1);
    const found = await findings('--probe');
    for (const check of ['probe-pod', 'hub-reachable', 'api-server-reachable', 'pod-clock']) {
      expect(found).toContainEqual(expect.objectContaining({ check, level: 'ok' }));
    }
    expect(await probes()).toEqual([]);
    const like = await findings('--probe', 'jobset/probed', '-n', 'default');
    for (const check of ['probe-pod', 'hub-reachable']) {
      expect(like).toContainEqual(expect.objectContaining({ check, level: 'ok' }));
    }
    expect(like.find(({ check }) => check === 'probe-pod')?.text).toContain('like those of probed');
    expect(await probes()).toEqual([]);
    await expect(findings('--probe', 'nobody')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no JobSet default/nobody'),
    });
    const at = { namespace: 'default', name: 'probed' };
    await client.delete(JOBSETS, at, { propagationPolicy: 'Background' });
    await Promise.all([group.pods.stop(), group.jobSets.stop()]);
  });

  test('removes its Pod when it is interrupted', async () => {
    await cordon(true);
    try {
      const child = spawn(process.execPath, argv('--probe'), { stdio: 'ignore' });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await until('a probe', async () => expect(await probes()).toHaveLength(1));
      child.kill('SIGINT');
      expect(await ended).toBe(130);
      expect(await probes()).toEqual([]);
    } finally {
      await cordon(false);
    }
  });

  test.each([
    [['-o', 'yaml'], /--output is "yaml", allowed is json/],
    [['-n', 'No'], /--namespace is "No"/],
    [['--image', 'x'], /--image is for the Pod of --probe/],
    [['train'], /JobSet "train" is for the Pod of --probe/],
  ])('refuses %j', async (args, message) => {
    const failed = run(process.execPath, argv(...args));
    await expect(failed).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  });
});
