/** Operators whose credentials or rights fail in the middle of a restart. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NAMESPACES, SECRETS } from '@lockstep/kube/objects/core.ts';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { failure } from '@lockstep/kube/status.ts';
import { afterAll, beforeAll, test } from 'vitest';
import { KUBERNETES } from '../kubernetes.ts';
import { FAIR, refusal } from './api-proxy.fixture.ts';
import { forbid, permit } from './api-server.fixture.ts';
import {
  ClusterInBadWeather,
  expectOneRestart,
  expectRunning,
  lose,
  OPERATOR,
  RUNTIME,
  until,
} from './bad-weather.fixture.ts';

const cluster = new ClusterInBadWeather();
beforeAll(() => cluster.start());
afterAll(() => cluster.stop());

const PLUGIN = {
  apiVersion: 'client.authentication.k8s.io/v1',
  interactiveMode: 'Never',
  command: './plugin',
};
const PLUGIN_SCRIPT = `#!/bin/sh
printf '{"apiVersion": "${PLUGIN.apiVersion}", "kind": "ExecCredential", "status": {"token": "%s"}}' \\
  "$(cat "$(dirname "$0")/token")"
`;

test.each([
  ['a token file', { tokenFile: 'token' }],
  ['a credential plugin', { exec: PLUGIN }],
])('%s has another token after the server has stopped to take the last one', async (what, user) => {
  const file = join(cluster.state.path, 'token');
  writeFileSync(join(cluster.state.path, 'plugin'), PLUGIN_SCRIPT, { mode: 0o755 });
  const { server, tls } = cluster.access;
  const authority = Buffer.from(tls.certificateAuthority ?? '').toString('base64');
  const first = await revocableToken();
  writeFileSync(file, first.token);
  const operator = cluster.startOperator({
    cluster: { server, 'certificate-authority-data': authority },
    user,
  });
  const group = await cluster.group(what.replaceAll(' ', '-'));
  await first.revoke();
  await lose(group);
  expectRunning(group, 0, 2);
  writeFileSync(file, await cluster.token());
  await expectOneRestart(group);

  await cluster.remove(group);
  await operator.kill();
});

test('all rights are withdrawn, and given back', async () => {
  const proxy = await cluster.proxy();
  const operator = cluster.startOperator(proxy);
  const group = await cluster.group('forbidden');
  if (KUBERNETES === undefined) proxy.weather = () => Promise.resolve(refusal(FORBIDDEN));
  else await forbid(cluster.client, OPERATOR);
  // A server that takes rights away leaves open watches open.
  proxy.cut();
  await lose(group);
  await until('it was refused', () => proxy.count(FORBIDDEN.code) >= 3);
  expectRunning(group, 0, 2);
  proxy.weather = FAIR;
  await permit(cluster.client, OPERATOR);
  await expectOneRestart(group);

  await cluster.remove(group);
  await operator.kill();
});

const FORBIDDEN = failure('Forbidden', 'these rights were taken away');

/** A token of the operators that is valid for as long as a Secret exists. */
async function revocableToken(): Promise<{ readonly token: string; revoke(): Promise<void> }> {
  const at = { namespace: OPERATOR.namespace, name: 'bad-weather' };
  const { metadata } = await cluster.client.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: at,
  });
  const { uid } = metadata;
  const boundTo = { kind: 'Secret', apiVersion: 'v1', name: at.name, uid };
  const token = await cluster.token(boundTo);
  return {
    token,
    revoke: async () => {
      await cluster.client.delete(SECRETS, at);
      await until('the token is refused', () => isRefused(token));
    },
  };
}

/** Waits until the API server, which caches tokens for some seconds, refuses the token. */
async function isRefused(token: string): Promise<boolean> {
  const { server, tls, namespace } = cluster.access;
  const { certificateAuthority } = tls;
  const access = { server, tls: { certificateAuthority }, credentials: { token }, namespace };
  const { client, close } = connectClient(access, { ...RUNTIME, userAgent: 'test' });
  try {
    return await client.list(NAMESPACES).then(
      () => false,
      (error: unknown) => error instanceof Error && 'code' in error && error.code === 401,
    );
  } finally {
    close();
  }
}
