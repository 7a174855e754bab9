import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Container, type Pod, PODS } from '../../kube/pod.ts';
import { nodeClock } from '../../runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '../../runtime/adapters/node-process-runner.ts';
import { systemRandom } from '../../runtime/adapters/system-random.ts';
import { MemoryLogger } from '../../runtime/memory/memory-logger.ts';
import { thisMachine } from './adapters/machine.ts';
import { createNodeFiles } from './adapters/node-files.ts';
import { createProbeTransport } from './adapters/probe-transport.ts';
import { type NodeAgent, startNodeAgent } from './node-agent.ts';
import { PodApi } from './testdata/pod-api.ts';

let root: string;
let api: PodApi;
let agent: NodeAgent;
let logger: MemoryLogger;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'node-agent-'));
  api = new PodApi();
  logger = new MemoryLogger();
  agent = await startNodeAgent({
    name: 'n1',
    client: api,
    clock: nodeClock,
    random: systemRandom,
    logger,
    processes: createNodeProcessRunner(),
    files: createNodeFiles(),
    probes: createProbeTransport(),
    rootDirectory: root,
    network: { type: 'own-addresses', hostIP: '127.77.0.1', podCIDR: '127.77.0.0/16' },
    kubeletPort: 10250,
    apiServer: { host: '127.0.0.1', port: 6443 },
    path: process.env['PATH'] ?? '',
    machine: thisMachine(),
  });
});

afterEach(async () => {
  await agent.stop();
  expect(await readdir(root)).not.toContain('pods');
  expect(logger.records.filter(({ level }) => level === 'error')).toEqual([]);
  await rm(root, { recursive: true });
});

function sh(name: string, script: string, more: Partial<Container> = {}): Container {
  return { name, image: 'busybox', command: ['sh', '-c', script], ...more };
}

async function run(spec: Partial<Pod['spec']>): Promise<Pod> {
  return api.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: { nodeName: 'n1', restartPolicy: 'Never', containers: [], ...spec },
  });
}

async function until(condition: (pod: Pod) => boolean): Promise<Pod> {
  for (let i = 0; i < 1500; i++) {
    const pod = await api.get(PODS, { namespace: 'default', name: 'p' });
    if (condition(pod)) return pod;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(JSON.stringify((await api.get(PODS, { namespace: 'default', name: 'p' })).status, null, 1));
}

async function logs(container: string, query = ''): Promise<string> {
  const response = await agent.logsHandler({
    method: 'GET',
    path: `/containerLogs/default/p/${container}${query}`,
    headers: {},
    signal: AbortSignal.timeout(5000),
  });
  let text = '';
  if (response.body instanceof Uint8Array) return new TextDecoder().decode(response.body);
  for await (const chunk of response.body) text += new TextDecoder().decode(chunk);
  return text;
}

describe('a Pod of real processes', () => {
  it('succeeds, with its output as log', async () => {
    await run({ containers: [sh('c', 'echo hello; pwd; env | sort; cat $LOCKSTEP_HOSTS')] });
    const pod = await until((p) => p.status?.phase === 'Succeeded');
    console.log(JSON.stringify(pod.status, null, 1));
    console.log(await logs('c'));
  });

  it('restarts all', async () => {
    await run({
      volumes: [{ name: 'd', emptyDir: {} }],
      containers: [
        sh('a', 'cat $LOCKSTEP_ROOT/d/m; [ -f $LOCKSTEP_ROOT/d/m ] || { echo here > $LOCKSTEP_ROOT/d/m; sleep 0.2; exit 42; }; exec sleep 100', {
          volumeMounts: [{ name: 'd', mountPath: '/d' }],
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'RestartPod', exitCodes: { operator: 'In', values: [42] } }],
        }),
        sh('b', 'exec sleep 100'),
      ],
    });
    await until((p) => p.status?.containerStatuses?.every((s) => s.restartCount === 1 && s.ready) === true);
    for (const h of api.history) console.log(h.status?.phase, h.status?.conditions?.find((c) => c.type === 'AllContainersRestarting')?.status, JSON.stringify(h.status?.containerStatuses?.map((s) => [s.name, Object.keys(s.state ?? {}), s.state?.waiting?.reason, s.restartCount, s.lastState?.terminated?.reason])));
    console.log(await logs('a'));
    await api.delete(PODS, { namespace: 'default', name: 'p' }, { gracePeriodSeconds: 5 });
    await expect.poll(() => api.objects.has('/api/v1/namespaces/default/pods/p')).toBe(false);
  });
});
