/**
 * The Role for a team in `docs/security.md`: commands need no right beyond it, and use each of its
 * rights. A proxy stands before the API server, and refuses what the Role does not allow.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyRule } from '@lockstep/kube/objects/rbac.ts';
import {
  type ClientConnection,
  connectClient,
} from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { type HttpServer, startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { forbidden } from '@lockstep/kube/status-errors.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { passedOn, refusal } from '../integration/api-proxy.fixture.ts';
import { type ClusterUnderTest, LOCKSTEP, startCluster } from './local-cluster.fixture.ts';

const PAGE = new URL('../../docs/security.md', import.meta.url);
const NAME = 'for-a-team';

/** `VERB GROUP/RESOURCE`, with the subresource. */
const RIGHTS: ReadonlySet<string> = (() => {
  const blocks = readFileSync(PAGE, 'utf8').matchAll(/```yaml\n(.*?)```/gs);
  const roles = [...blocks].map(([, text = '']) => parse(text) as Role);
  const role = roles.find(({ kind }) => kind === 'Role');
  return new Set((role?.rules ?? []).flatMap(rightsOf));
})();

interface Role {
  readonly kind: string;
  readonly rules?: readonly PolicyRule[];
}

function rightsOf({ apiGroups, resources, verbs }: PolicyRule): readonly string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
  );
}

/** What RBAC asks for a request; undefined: it is for everybody, such as `/version`. */
function rightFor({ method, path }: HttpRequest): string | undefined {
  const url = new URL(path, 'http://proxy');
  const found =
    /^\/apis?(?:\/([^/]+\.[^/]+|batch|apps))?\/v[^/]+\/(?:namespaces\/[^/]+\/)?([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(
      url.pathname,
    );
  if (found === null) return undefined;
  const [, group = '', resource, name, subresource] = found;
  const isWatch = url.searchParams.get('watch') === 'true';
  const verb =
    method === 'GET' ? (name === undefined ? (isWatch ? 'watch' : 'list') : 'get') : VERBS[method];
  return `${verb} ${group}/${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

let cluster: ClusterUnderTest;
let proxy: HttpServer;
let upstream: ClientConnection;
let kubeconfig: string;
const asked = new Set<string>();
const refused = new Set<string>();

async function serve(request: HttpRequest): Promise<HttpResponse> {
  const right = rightFor(request);
  if (right !== undefined) {
    asked.add(right);
    if (!RIGHTS.has(right)) {
      refused.add(right);
      return refusal(forbidden(undefined, '', right));
    }
  }
  const { token, clientCertificate } = (await upstream.credentials?.current(request.signal)) ?? {};
  const headers = passedOn(request.headers);
  const {
    status,
    headers: answered,
    body,
  } = await upstream.transport.send({
    ...request,
    clientCertificate,
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  });
  const type = answered['content-type'];
  return { status, headers: type === undefined ? {} : { 'content-type': type }, body };
}

beforeAll(async () => {
  cluster = await startCluster();
  const options = { clock: nodeClock, random: systemRandom, userAgent: 'team' };
  const files = { path: cluster.kubeconfig, env: {}, homeDirectory: '/' };
  upstream = connectClient(await loadKubeconfig(files), options);
  proxy = await startHttpServer({ handler: serve, host: '127.0.0.1', port: 0 });
  kubeconfig = join(cluster.shared, 'team-kubeconfig');
  const parts = {
    clusters: [{ name: 'c', cluster: { server: proxy.url } }],
    users: [{ name: 'u', user: {} }],
  };
  const context = { cluster: 'c', user: 'u', namespace: 'default' };
  const contexts = [{ name: 'x', context }];
  const config = { apiVersion: 'v1', kind: 'Config', ...parts, contexts, 'current-context': 'x' };
  writeFileSync(kubeconfig, JSON.stringify(config));
  await cluster.client.create(JOBSETS, JOBSET);
  const at = { namespace: 'default', name: NAME };
  const isReleased = (found: JobSet | undefined): boolean => found?.status?.syncedEpoch === 1;
  await waitFor(cluster.client, JOBSETS, at, isReleased, {
    clock: nodeClock,
    random: systemRandom,
    timeoutMs: 60_000,
  });
});
afterAll(async () => {
  await proxy.close();
  upstream.close();
  await cluster.stop();
});

const JOBSET: JobSet = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: {
    name: NAME,
    namespace: 'default',
    annotations: { 'lockstep/restart-mode': 'Supervisor' },
  },
  spec: {
    failurePolicy: { maxRestarts: 3, restartStrategy: 'InPlaceRestart' },
    replicatedJobs: [
      {
        name: 'w',
        template: {
          spec: {
            parallelism: 2,
            completions: 2,
            template: {
              spec: {
                restartPolicy: 'Never',
                terminationGracePeriodSeconds: 1,
                containers: [
                  { name: 'worker', image: 'sh', command: ['sh', '-c', 'echo begins; sleep 600'] },
                ],
              },
            },
          },
        },
      },
    ],
  },
};

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function lockstep(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [LOCKSTEP, ...args, '--kubeconfig', kubeconfig],
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      },
    );
  });
}

describe('the Role for a team', () => {
  it('lets it see, restart and follow its JobSets', async () => {
    const restarted = await lockstep('restart', NAME);
    expect(restarted).toMatchObject({ code: 0, stderr: '' });
    expect((await lockstep('status')).stdout).toContain(NAME);
    const status = await lockstep('status', NAME);
    expect(status.code).toBe(0);
    expect(status.stdout).toMatch(/^1 +for-a-team-w-0-1-/m);
    expect((await lockstep('logs', NAME)).stdout).toContain('begins');
    expect(await lockstep('report', NAME)).toMatchObject({ code: 0, stderr: '' });

    const at = { namespace: 'default', name: NAME };
    const entry = { time: '2026-01-01T00:00:00.000000Z', reason: 'r', pod: 'p', worker: 'w' };
    const patch = { status: { avoidedNodes: [{ node: 'gone', ...entry }] } };
    await cluster.client.patch(JOBSETS, at, { type: 'merge', patch }, { subresource: 'status' });
    expect(await lockstep('nodes', NAME, '--all')).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await lockstep('status', '-l', 'team=none', '-o', 'json');
    expect(stdout).not.toContain(NAME);

    // Nodes belong to no namespace, so no Role allows them, and the page says what is left out then.
    // The proxy forwards no port either, so `status` tries to be an agent itself, which is refused.
    expect([...refused].toSorted()).toEqual(['create /serviceaccounts/token', 'get /nodes']);
    expect([...RIGHTS].filter((right) => !asked.has(right))).toEqual([]);
  });
});
