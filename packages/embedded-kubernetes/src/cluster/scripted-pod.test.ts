import type { Stored } from '@lockstep/kube/meta.ts';
import type { ContainerRestartRule, Pod } from '@lockstep/kube/objects/pod.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MemoryCluster } from './memory-cluster.ts';
import type { PlayedRun } from './scripted-pod.ts';

const ANY_EXIT: ContainerRestartRule = {
  action: 'RestartPod',
  exitCodes: { operator: 'NotIn', values: [] },
};
const FAILURE: ContainerRestartRule = {
  action: 'RestartPod',
  exitCodes: { operator: 'NotIn', values: [0] },
};
const AT = { namespace: 'default', name: 'p' };

let cluster: MemoryCluster;
/** The newest run of each container that has not ended. */
let runs: Map<string, PlayedRun>;
let starts: string[];

beforeEach(async () => {
  runs = new Map();
  starts = [];
  cluster = new MemoryCluster();
  cluster.play = () => (name, run) => {
    starts.push(name);
    runs.set(name, run);
    return (signal) => end(name, signal === 'SIGTERM' ? 143 : 137);
  };
  await cluster.start();
  await cluster.addNode();
  await cluster.client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: AT,
    spec: {
      restartPolicy: 'Never',
      initContainers: [
        {
          name: 'agent',
          image: 'none',
          restartPolicy: 'Always',
          restartPolicyRules: [ANY_EXIT],
          startupProbe: { httpGet: { path: '/', port: 80 } },
        },
      ],
      containers: [
        { name: 'worker', image: 'none', restartPolicy: 'Never', restartPolicyRules: [FAILURE] },
      ],
    },
  });
  await cluster.until(async () => runs.has('agent'));
});

afterEach(() => cluster.stop());

function end(name: string, exitCode: number): void {
  const run = runs.get(name);
  runs.delete(name);
  run?.exited(exitCode);
}

async function phase(): Promise<string | undefined> {
  const pod: Stored<Pod> = await cluster.client.get(PODS, AT);
  return pod.status?.phase;
}

async function running(): Promise<void> {
  runs.get('agent')?.passed();
  await cluster.until(async () => (await phase()) === 'Running');
}

it('starts the worker once the probe of its sidecar has succeeded', async () => {
  await cluster.clock.advance(60_000);
  expect(starts).toEqual(['agent']);
  expect(await phase()).toBe('Pending');
  await running();
  expect(starts).toEqual(['agent', 'worker']);
});

it.each(['agent', 'worker'])('starts both again when the %s fails', async (name) => {
  await running();
  end(name, 1);
  await cluster.until(async () => starts.length === 3);
  await running();
  expect(starts).toEqual(['agent', 'worker', 'agent', 'worker']);
});

it('succeeds with the worker, and then stops the sidecar', async () => {
  await running();
  end('worker', 0);
  await cluster.until(async () => (await phase()) === 'Succeeded');
  expect([...runs.keys()]).toEqual([]);
});

it('does nothing on a silent node, and what it has missed when that is back', async () => {
  await running();
  await cluster.silence('n1');
  end('worker', 1);
  await cluster.clock.advance(10_000);
  expect([...runs.keys()]).toEqual(['agent']);
  await cluster.recover('n1');
  await cluster.until(async () => starts.length === 3);
});

it('stops a worker that a silent node starts late, after its sidecar has failed', async () => {
  await cluster.silence('n1');
  runs.get('agent')?.passed();
  end('agent', 1);
  await cluster.recover('n1');
  await cluster.until(async () => starts.length === 3);
  expect(starts).toEqual(['agent', 'worker', 'agent']);
  expect([...runs.keys()]).toEqual(['agent']);
});

it('stops all containers of a Pod that is deleted, also by force on a silent node', async () => {
  await running();
  await cluster.silence('n1');
  await cluster.client.delete(PODS, AT, { gracePeriodSeconds: 0 });
  await cluster.clock.advance(10_000);
  expect([...runs.keys()]).toEqual(['agent', 'worker']);
  await cluster.recover('n1');
  await cluster.clock.advance(10_000);
  expect([...runs.keys()]).toEqual([]);
});

it('goes when it is deleted', async () => {
  await running();
  await cluster.client.delete(PODS, AT);
  await cluster.until(async () => !(await cluster.exists(PODS, AT.name)));
  expect([...runs.keys()]).toEqual([]);
});
