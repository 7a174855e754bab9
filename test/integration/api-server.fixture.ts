/**
 * The API server under test: the embedded one, alone and over TLS, or the real one of the
 * kubeconfig that the tests were given. No other test uses it at the same time.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMINISTRATORS } from '@lockstep/embedded-kubernetes';
import {
  createApiServer,
  createTokenSigner,
  createWebhookTransports,
  MemoryStorage,
} from '@lockstep/embedded-kubernetes/in-memory';
import type { Stored } from '@lockstep/kube/meta.ts';
import { SERVICE_ACCOUNTS, type TokenRequest } from '@lockstep/kube/objects/core.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { CLUSTER_ROLE_BINDINGS } from '@lockstep/kube/objects/rbac.ts';
import { apiVersionOf, groupResourceOf } from '@lockstep/kube/resource.ts';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import type { ClusterAccess } from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { writeKubeconfig } from '../../src/cli/local-cluster/kubeconfig-file.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { unlessGone } from '../fixtures/workloads.ts';
import { KUBERNETES } from '../kubernetes.ts';

export interface ApiUnderTest {
  /** An administrator's client, as is the kubeconfig. */
  readonly client: Client;
  readonly kubeconfig: string;
  readonly access: ClusterAccess;
  stop(): Promise<void>;
}

export async function startApi(): Promise<ApiUnderTest> {
  const { kubeconfig, stop } =
    KUBERNETES === undefined
      ? await startEmbeddedApi()
      : { kubeconfig: KUBERNETES, stop: () => Promise.resolve() };
  const access = await loadKubeconfig({ path: kubeconfig, env: {}, homeDirectory: '/' });
  const { client, close } = connectClient(access, { ...RUNTIME, userAgent: 'test' });
  return {
    client,
    kubeconfig,
    access,
    stop: async () => {
      close();
      await stop();
    },
  };
}

const RUNTIME = { clock: nodeClock, random: systemRandom } as const;
const LOOPBACK = '127.0.0.1';
const TIMEOUT_MS = 60_000;

async function startEmbeddedApi() {
  const authority = createCertificateAuthority({ commonName: 'test', clock: nodeClock });
  const server = issueCertificate(authority, {
    commonName: 'api',
    ipAddresses: [LOOPBACK],
    usages: ['server'],
    days: 1,
  });
  const credentials = issueCertificate(authority, {
    commonName: 'admin',
    organizations: [ADMINISTRATORS],
    usages: ['client'],
    days: 1,
  });
  const webhooks = createWebhookTransports();
  const api = createApiServer({
    ...RUNTIME,
    logger: SILENT,
    storage: new MemoryStorage(),
    tokenSigner: createTokenSigner(),
    webhookTransport: webhooks.to,
  });
  await api.start();
  const http = await startHttpServer({
    handler: api.handler,
    host: LOOPBACK,
    port: 0,
    tls: { ...server, clientAuthority: authority.certificate },
  });
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-api-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, {
    server: http.url,
    authority: authority.certificate,
    user: 'admin',
    credentials,
  });
  const stop = async (): Promise<void> => {
    webhooks.close();
    await http.close();
    await api.close();
    await rm(directory, { recursive: true });
  };
  return { kubeconfig, stop };
}

/** Resolves when JobSets are served. */
export async function installJobSets(client: Client): Promise<Stored<CustomResourceDefinition>> {
  await unlessThere(client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD));
  const name = groupResourceOf(JOBSETS);
  const options = { ...RUNTIME, timeoutMs: TIMEOUT_MS };
  const served = await waitFor(client, CUSTOM_RESOURCE_DEFINITIONS, { name }, isServed, options);
  if (served === undefined) throw new Error('there is no definition of JobSet');
  return served;
}

function isServed(definition: CustomResourceDefinition | undefined): boolean {
  const conditions = definition?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}

/** Ignores that an earlier suite already made it on a server that outlives both. */
export async function unlessThere(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}

/** A token of a service account, valid for as long as the object to which it is bound exists. */
export async function tokenOf(
  client: Client,
  account: ObjectKey,
  boundTo?: NonNullable<TokenRequest['spec']['boundObjectRef']>,
): Promise<string> {
  const bound = boundTo === undefined ? {} : { boundObjectRef: boundTo };
  const { status } = await client.createSubresource<TokenRequest>(
    SERVICE_ACCOUNTS,
    account,
    'token',
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: { audiences: [], ...bound },
    },
  );
  if (status === undefined) throw new Error('no token was issued');
  return status.token;
}

/** Makes a service account that may do everything, for as long as `permit` holds. */
export async function createAccount(client: Client, account: Required<ObjectKey>): Promise<void> {
  const made = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account };
  await unlessThere(client.create(SERVICE_ACCOUNTS, made));
  await permit(client, account);
}

export async function removeAccount(client: Client, account: Required<ObjectKey>): Promise<void> {
  await forbid(client, account);
  await client.delete(SERVICE_ACCOUNTS, account);
}

/** Grants all rights; the embedded API server does not check rights. */
export async function permit(client: Client, account: Required<ObjectKey>): Promise<void> {
  if (KUBERNETES === undefined) return;
  const binding = client.create(CLUSTER_ROLE_BINDINGS, {
    apiVersion: apiVersionOf(CLUSTER_ROLE_BINDINGS),
    kind: CLUSTER_ROLE_BINDINGS.kind,
    metadata: { name: account.name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  await unlessThere(binding);
}

export async function forbid(client: Client, { name }: ObjectKey): Promise<void> {
  if (KUBERNETES === undefined) return;
  await client.delete(CLUSTER_ROLE_BINDINGS, { name }).catch(unlessGone);
}
