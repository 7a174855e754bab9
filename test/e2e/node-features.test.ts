/**
 * A real Kubernetes whose nodes do not restart all containers of a Pod: its feature gates say so, or its
 * kubelets are older and declare nothing. The operator notices that, and makes Jobs that pass the
 * validation of that API server.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import type { Container } from '@lockstep/kube/objects/pod.ts';
import {
  type ClientConnection,
  connectClient,
} from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import {
  buildControlPlane,
  type FeatureGates,
  KUBERNETES_VERSIONS,
} from '../../tools/control-plane/build.ts';
import { type ControlPlane, startControlPlane } from '../../tools/control-plane/control-plane.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { installJobSets } from '../integration/api-server.fixture.ts';
import { CONTROL_PLANE } from '../kubernetes.ts';

const RUNTIME = { clock: nodeClock, random: systemRandom } as const;
const TIMING = { ...RUNTIME, timeoutMs: 60_000 };
const OPERATOR = fileURLToPath(new URL('../../dist/operator.js', import.meta.url));
const FEATURE = 'RestartAllContainersOnContainerExits';
const KINDS: readonly [string, FeatureGates, string][] = [
  ['of the API server', { [FEATURE]: false }, 'the API server refuses such restart rules'],
  ['of the nodes', {}, `no node declares the feature ${FEATURE}`],
];

const onControlPlane = describe.skipIf(CONTROL_PLANE === undefined);

onControlPlane.each(KINDS)('without the feature %s', (_, gates, why) => {
  let directory: string;
  let controlPlane: ControlPlane;
  let connection: ClientConnection;
  let operator: ChildProcess;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lockstep-features-'));
    const binaries = await buildControlPlane(KUBERNETES_VERSIONS[0], () => undefined);
    controlPlane = await startControlPlane(binaries, directory, gates);
    const { kubeconfig } = controlPlane;
    const access = await loadKubeconfig({ path: kubeconfig, env: {}, homeDirectory: '/' });
    connection = connectClient(access, { ...RUNTIME, userAgent: 'test' });
    await installJobSets(connection.client);
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'older' } };
    await connection.client.create(NODES, node);
    operator = spawn(process.execPath, [OPERATOR, '--kubeconfig', kubeconfig], {
      stdio: 'ignore',
    });
  });

  afterAll(async () => {
    operator.kill('SIGTERM');
    await once(operator, 'exit');
    connection.close();
    await controlPlane.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  async function create(name: string, container: Container): Promise<void> {
    const job = replicatedJob('w', 2);
    const { spec } = job.template;
    const pod = { ...spec.template.spec, containers: [container] };
    await connection.client.create(JOBSETS, {
      apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
      kind: JOBSETS.kind,
      metadata: { namespace: 'default', name },
      spec: {
        failurePolicy: { maxRestarts: 3, restartStrategy: 'InPlaceRestart' },
        replicatedJobs: [{ ...job, template: { spec: { ...spec, template: { spec: pod } } } }],
      },
    });
  }

  test('agents supervise their workers, and an Event says why', async () => {
    await create('supervised', { name: 'worker', image: 'none', command: ['train'] });
    const at = { namespace: 'default', name: 'supervised-w-0' };
    const job = await waitFor(connection.client, JOBS, at, (one) => one !== undefined, TIMING);
    const [worker] = job?.spec.template.spec.containers ?? [];
    expect(worker?.command?.slice(-2)).toEqual(['--', 'train']);
    expect(worker?.restartPolicyRules).toEqual([
      { action: 'Restart', exitCodes: { operator: 'NotIn', values: [0] } },
    ]);
    await until('an Event', async () => {
      const { items } = await connection.client.list(EVENTS, { namespace: 'default' });
      const expected = expect.stringContaining(`agents supervise their workers: ${why}`);
      expect(items.map(({ note }) => note)).toContainEqual(expected);
    });
  });

  test('a worker without a command in its Pod cannot restart in place, and a condition says why', async () => {
    await create('unknown', { name: 'worker', image: 'none' });
    const at = { namespace: 'default', name: 'unknown' };
    const isRejected = (one: { readonly status?: object } | undefined): boolean =>
      JSON.stringify(one?.status ?? {}).includes('Rejected');
    const jobSet = await waitFor(connection.client, JOBSETS, at, isRejected, TIMING);
    expect(jobSet?.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Rejected',
        status: 'True',
        message: expect.stringContaining(why),
      }),
    );
  });
});
