/** As which user an API server accepts a client whose kubeconfig has a credential plugin. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ApiUnderTest,
  createAccount,
  removeAccount,
  startApi,
  tokenOf,
} from './api-server.fixture.ts';

const API_VERSION = 'client.authentication.k8s.io/v1beta1';
const ACCOUNT = { namespace: 'default', name: 'of-a-plugin' };
const directory = mkdtempSync(join(tmpdir(), 'lockstep-plugin-'));
const closes: (() => void)[] = [];

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi();
  await createAccount(api.client, ACCOUNT);
});
afterAll(async () => {
  for (const close of closes) close();
  await removeAccount(api.client, ACCOUNT);
  await api.stop();
  rmSync(directory, { recursive: true });
});

/** A client whose plugin answers with this status, and counts its runs. */
async function connected(status: object): Promise<Client> {
  const { server, tls } = api.access;
  const answer = { apiVersion: API_VERSION, kind: 'ExecCredential', status };
  writeFileSync(join(directory, 'answer'), JSON.stringify(answer));
  writeFileSync(join(directory, 'runs'), '');
  const script = '#!/bin/sh\ncd "$(dirname "$0")" && echo run >> runs && cat answer\n';
  writeFileSync(join(directory, 'plugin'), script, { mode: 0o755 });
  const authority = Buffer.from(tls.certificateAuthority ?? '').toString('base64');
  const path = join(directory, 'kubeconfig');
  const config = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'u', user: { exec: { apiVersion: API_VERSION, command: './plugin' } } }],
  };
  writeFileSync(path, JSON.stringify(config));
  const access = await loadKubeconfig({ path, env: process.env, homeDirectory: '/' });
  const options = { clock: nodeClock, random: systemRandom, userAgent: 'test' };
  const { client, close } = connectClient(access, options);
  closes.push(close);
  return client;
}

interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo: { readonly username?: string } };
}

const SELF_SUBJECT_REVIEWS: Resource<SelfSubjectReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
};

async function whoAmI(client: Client): Promise<string | undefined> {
  const { status } = await client.create(SELF_SUBJECT_REVIEWS, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: {},
  });
  return status?.userInfo.username;
}

const runs = (): number => readFileSync(join(directory, 'runs'), 'utf8').split('\n').length - 1;

test('with a token it is the account of the token', async () => {
  const client = await connected({ token: await tokenOf(api.client, ACCOUNT) });
  const name = `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`;
  expect(await Promise.all([whoAmI(client), whoAmI(client)])).toEqual([name, name]);
  expect(await whoAmI(client)).toBe(name);
  expect(runs()).toBe(1);
});

test('with an invalid token it is refused, and the plugin is called twice', async () => {
  const client = await connected({ token: 'of-no-account' });
  await expect(whoAmI(client)).rejects.toMatchObject({ code: 401 });
  await expect(whoAmI(client)).rejects.toMatchObject({ code: 401 });
  expect(runs()).toBe(2);
});

test('with a certificate it is whom the certificate names', async ({ skip }) => {
  const { clientCertificate, clientKey } = api.access.tls;
  if (clientCertificate === undefined) skip('the administrator has none to lend');
  const client = await connected({
    clientCertificateData: clientCertificate,
    clientKeyData: clientKey,
  });
  expect(await whoAmI(client)).toBe(await whoAmI(api.client));
  expect(runs()).toBe(1);
});
