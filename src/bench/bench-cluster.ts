/**
 * A Kubernetes for benchmarks of the operator's process: embedded in this one, or the cluster of a
 * kubeconfig. There the operator is a service account in a namespace of our own, so that the API
 * server queues its requests like an installed operator's. Everything is removed again at the end.
 */

import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defined } from '@lockstep/kube/json/defined.ts';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { NAMESPACES, SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { CLUSTER_ROLE_BINDINGS } from '@lockstep/kube/objects/rbac.ts';
import { groupResourceOf, type Resource, typeMetaOf } from '@lockstep/kube/resource.ts';
import { freePort } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { createPinoLogger } from '@lockstep/kube/runtime/adapters/pino-logger.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import type { ClusterAccess } from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { accountToken } from '../cli/account-token.ts';
import { connectTo } from '../cli/cluster-connection.ts';
import { restrictAgents } from '../cli/local-cluster/agent-restriction.ts';
import { expectNoInstallation, startEmbedded } from '../cli/local-cluster/control-plane.ts';
import { writeKubeconfig } from '../cli/local-cluster/kubeconfig-file.ts';
import { plainNodes } from '../cli/local-cluster/up-options.ts';
import { PORTS } from '../cli/ports.ts';
import { type StateDirectory, temporaryStateDirectory } from '../cli/state-directory.ts';
import { Watchdog } from '../cli/watchdog/watchdog.ts';
import { OPERATOR_NAME } from '../deploy/permissions.ts';
import { JOBSETS } from '../jobset/jobset.ts';
import { OperatorProcess } from './operator-process.ts';

export interface BenchCluster {
  /** A client with an administrator's rights. */
  readonly client: Client;
  /** Where agents find the API server. */
  readonly access: ClusterAccess;
  /** For the group under test. */
  readonly namespace: string;
  /** The namespace of the operator's service account, if it has one. */
  readonly operatorNamespace: string | undefined;
  /**
   * Starts the operator, one at a time. The port of its hub is always the same. `webhooks`: its
   * flags for webhooks; without them it serves none.
   */
  startOperator(channel: 'Auto' | 'API', webhooks?: readonly string[]): Promise<OperatorProcess>;
  /** Starts one of several replicas; its holder name in the lease begins with `hostName`. */
  startReplica(hostName: string, hub?: readonly string[]): Promise<OperatorProcess>;
  /** The replica that holds the lease now. */
  leader(): Promise<string>;
  /** Ends a running operator, and removes all that is ours. */
  stop(): Promise<void>;
}

const WATCHDOG = fileURLToPath(new URL('../../dist/watchdog.js', import.meta.url));
const LOOPBACK = '127.0.0.1';
/** Long enough for thousands of Pods, each deleted by one request and released by another. */
const REMOVAL_TIMEOUT_MS = 300_000;
/** An API server that allows less says so in its answer. */
const TOKEN_SECONDS = 6 * 3600;
const LOG_TAIL_BYTES = 4_000;

/** Rejects with `ConnectionProblem` or `ClusterAccessError` if the kubeconfig does not work. */
export async function startBenchCluster(
  kubeconfig: string | undefined,
  signal: AbortSignal,
): Promise<BenchCluster> {
  const state = temporaryStateDirectory();
  const watchdog = Watchdog.start(WATCHDOG, state.path, true);
  const logFile = join(state.path, 'cluster.log');
  const log = openSync(logFile, 'a', 0o600);
  const stops: (() => Promise<void> | void)[] = [
    () => state.release(true),
    () => watchdog.release(),
    () => closeSync(log),
  ];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const ground =
      kubeconfig === undefined
        ? await embedded(state, log, watchdog, stops)
        : await joined(kubeconfig, join(state.path, 'operator.kubeconfig'), signal, stops);
    const hub = ['--hub-bind-address', `${LOOPBACK}:${await freePort(PORTS.random)}`];
    const delivery = ['--agent-delivery', 'WorkerImage'];
    const noWebhooks = ['--webhooks', 'off'];
    const start = async (more: readonly string[], hostName?: string): Promise<OperatorProcess> => {
      const flags = [...ground.flags, ...delivery, ...more];
      const starting = OperatorProcess.start({ flags, log, watchdog, signal, hostName });
      const operator = await starting.catch((cause: unknown) => {
        const tail = readFileSync(logFile, 'utf8').slice(-LOG_TAIL_BYTES);
        throw new Error(`${String(cause)}\n${tail}`, { cause });
      });
      stops.push(() => operator.stop());
      return operator;
    };
    const lease = { namespace: ground.namespace, name: 'lockstep-bench' };
    const election = [
      '--leader-elect',
      `--leader-election-namespace=${lease.namespace}`,
      `--leader-election-id=${lease.name}`,
    ];
    return {
      ...ground,
      startOperator: (channel, webhooks = noWebhooks) =>
        start([...hub, ...webhooks, '--agent-channel', channel, '--agent-rights']),
      startReplica: (hostName, own = hub) =>
        start([...own, ...noWebhooks, '--agent-channel', 'Auto', ...election], hostName),
      leader: async () => {
        const { spec } = await ground.client.get(LEASES, lease);
        return spec?.holderIdentity?.split('_')[0] ?? '';
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Ground
  extends Pick<BenchCluster, 'client' | 'access' | 'namespace' | 'operatorNamespace'> {
  /** The operator's flags. */
  readonly flags: readonly string[];
}

async function embedded(
  state: StateDirectory,
  log: number,
  watchdog: Watchdog,
  stops: (() => Promise<void> | void)[],
): Promise<Ground> {
  const controlPlane = await startEmbedded(
    {
      ...PORTS,
      logger: createPinoLogger({ destination: log, level: 'warn' }),
      processes: watchdog.guard(createNodeProcessRunner()),
      stateDirectory: state.path,
      path: '',
      nodes: plainNodes(1),
    },
    state.kubeconfig,
  );
  stops.push(() => controlPlane.stop());
  return {
    client: controlPlane.client,
    access: await loadKubeconfig({ path: state.kubeconfig, env: {}, homeDirectory: '/' }),
    namespace: 'default',
    operatorNamespace: undefined,
    flags: [...controlPlane.operatorFlags, '--install-crd'],
  };
}

async function joined(
  kubeconfig: string,
  operatorKubeconfig: string,
  signal: AbortSignal,
  stops: (() => Promise<void> | void)[],
): Promise<Ground> {
  const { access, client, close } = await connectTo({ kubeconfig }, signal);
  stops.push(close);
  await expectNoInstallation(client);
  const definition = await expectDefinition(client);
  stops.push(definition.restore);
  stops.push(await restrictAgents(client));
  const namespace = `lockstep-bench-${PORTS.random.uuid().slice(0, 8)}`;
  await client.create(NAMESPACES, { ...typeMetaOf(NAMESPACES), metadata: { name: namespace } });
  stops.push(() => remove(client, NAMESPACES, namespace));
  const account = { namespace, name: OPERATOR_NAME };
  await client.create(SERVICE_ACCOUNTS, { ...typeMetaOf(SERVICE_ACCOUNTS), metadata: account });
  await client.create(CLUSTER_ROLE_BINDINGS, {
    ...typeMetaOf(CLUSTER_ROLE_BINDINGS),
    metadata: { name: namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  stops.push(() => remove(client, CLUSTER_ROLE_BINDINGS, namespace));
  const token = await accountToken(client, account, { expirationSeconds: TOKEN_SECONDS });
  const authority = access.tls.certificateAuthority ?? '';
  const { server } = access;
  const credentials = { token };
  writeKubeconfig(operatorKubeconfig, { server, authority, user: 'bench', namespace, credentials });
  return {
    client,
    access,
    namespace,
    operatorNamespace: namespace,
    flags: ['--kubeconfig', operatorKubeconfig, ...(definition.isThere ? [] : ['--install-crd'])],
  };
}

/** Checks whether JobSets are defined, and returns how to restore that state. */
export async function expectDefinition(
  client: Client,
): Promise<{ readonly isThere: boolean; readonly restore: () => Promise<void> }> {
  const name = groupResourceOf(JOBSETS);
  const isThere =
    (await unlessGone(client.get(CUSTOM_RESOURCE_DEFINITIONS, { name }))) !== undefined;
  const restore = (): Promise<void> =>
    isThere ? Promise.resolve() : remove(client, CUSTOM_RESOURCE_DEFINITIONS, name);
  return { isThere, restore };
}

/** Resolves when it is gone. */
export async function remove(
  client: Client,
  of: Resource<KubeObject>,
  name: string,
  namespace?: string,
): Promise<void> {
  const at = { name, ...defined({ namespace }) };
  await unlessGone(client.delete(of, at));
  const options = { ...PORTS, timeoutMs: REMOVAL_TIMEOUT_MS };
  await waitFor(client, of, at, (one) => one === undefined, options);
}
