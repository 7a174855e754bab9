/**
 * Checks which queues a real API server uses for requests of the operator and of agents. The
 * embedded server has none.
 */

import { NAMESPACES, SERVICE_ACCOUNTS, type TokenRequest } from '@lockstep/kube/objects/core.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import {
  type ClientConnection,
  connectClient,
} from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { wholeBody } from '@lockstep/kube/runtime/client/response-body.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prioritiseAgents } from '../../src/bench/agent-priority.ts';
import { FLOW_SCHEMAS } from '../../src/deploy/kinds.ts';
import { OPERATOR_NAME } from '../../src/deploy/permissions.ts';
import { KUBERNETES } from '../kubernetes.ts';

const NAMESPACE = 'api-priority';
const AGENT = 'train-lockstep-agent';

const JOBSETS_PATH = '/apis/jobset.x-k8s.io/v1alpha2';
const LEASES_PATH = '/apis/coordination.k8s.io/v1/namespaces';

describe.skipIf(KUBERNETES === undefined)('an API server', () => {
  const removed: (() => Promise<void>)[] = [];
  const tokens = new Map<string, string>();
  const names = new Map<string, string>();
  let connection: ClientConnection;

  beforeAll(async () => {
    const access = await loadKubeconfig({ path: KUBERNETES, env: {}, homeDirectory: '/' });
    const { clientCertificate: _certificate, clientKey: _key, ...tls } = access.tls;
    const runtime = { clock: nodeClock, random: systemRandom, userAgent: 'lockstep-test' };
    const { client, close } = connectClient(access, runtime);
    // The connection has no credentials; each request brings a token.
    connection = connectClient({ ...access, tls }, runtime);
    removed.push(
      () => Promise.resolve(close()),
      () => Promise.resolve(connection.close()),
    );
    const make = async (of: Resource, namespace: string | undefined, name: string) => {
      const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
      await client.create(of, { apiVersion: 'v1', kind: of.kind, metadata });
    };
    await make(NAMESPACES, undefined, NAMESPACE);
    removed.push(() => client.delete(NAMESPACES, { name: NAMESPACE }));
    for (const account of [OPERATOR_NAME, AGENT]) {
      await make(SERVICE_ACCOUNTS, NAMESPACE, account);
      const at = { namespace: NAMESPACE, name: account };
      const answer = await client.createSubresource<TokenRequest>(SERVICE_ACCOUNTS, at, 'token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: {},
        spec: {},
      });
      tokens.set(account, answer.status?.token ?? '');
    }
    removed.push(await prioritiseAgents(client, NAMESPACE));
    for (const { metadata } of (await client.list(FLOW_SCHEMAS)).items) {
      names.set(metadata.uid, metadata.name ?? '');
    }
  });

  afterAll(async () => {
    for (const remove of removed.reverse()) await remove();
  });

  /** A server learns of a schema by a watch, and names the schema of each request in its answer. */
  test.each([
    ['the lease', OPERATOR_NAME, 'GET', `${LEASES_PATH}/${NAMESPACE}/leases/a`, '-lease'],
    ['renewing it', OPERATOR_NAME, 'PUT', `${LEASES_PATH}/${NAMESPACE}/leases/a`, '-lease'],
    ['a lease elsewhere', OPERATOR_NAME, 'GET', `${LEASES_PATH}/default/leases/a`, ''],
    ['a status', OPERATOR_NAME, 'PUT', `${JOBSETS_PATH}/namespaces/a/jobsets/b/status`, ''],
    ['a Job', OPERATOR_NAME, 'POST', '/apis/batch/v1/namespaces/a/jobs', ''],
    ['Pods of all namespaces', OPERATOR_NAME, 'GET', '/api/v1/pods', ''],
    ['the keys of tokens', OPERATOR_NAME, 'GET', '/openid/v1/jwks', ''],
    ['Events', OPERATOR_NAME, 'POST', '/apis/events.k8s.io/v1/namespaces/a/events', '-reviews'],
    ['a token', OPERATOR_NAME, 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', '-reviews'],
  ] as const)('takes %s of the operator where it belongs', async (_what, of, method, path, as) => {
    await untilTaken(of, method, path, `${OPERATOR_NAME}${as}`);
  });

  test('takes announcements of agents where they belong', async () => {
    await untilTaken(AGENT, 'PATCH', '/api/v1/namespaces/a/pods/b', 'lockstep-agents');
  });

  type Method = 'GET' | 'PUT' | 'POST' | 'PATCH';

  async function untilTaken(
    account: string,
    method: Method,
    path: string,
    by: string,
  ): Promise<void> {
    const look = async () => expect(await schemaOf(account, method, path)).toBe(by);
    await until(`the schema of ${method} ${path}`, look, LEARN_MS);
  }

  async function schemaOf(
    account: string,
    method: Method,
    path: string,
  ): Promise<string | undefined> {
    const { signal } = new AbortController();
    const headers = { authorization: `Bearer ${tokens.get(account)}` };
    const answer = await connection.transport.send({ method, path, headers, signal });
    await wholeBody(answer.body);
    return names.get(answer.headers['x-kubernetes-pf-flowschema-uid'] ?? '');
  }
});

/** How long an API server takes to see a new schema, at most. */
const LEARN_MS = 60_000;
