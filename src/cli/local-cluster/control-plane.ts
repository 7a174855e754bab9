/**
 * The Kubernetes below the operator, with this machine as its nodes: embedded in this process, or a
 * running one. Both return how the operator reaches it. A joined cluster keeps only the definition
 * of JobSet and the JobSets.
 */
import { join, resolve } from 'node:path';
import {
  ADMINISTRATORS,
  type EmbeddedClusterOptions,
  joinNodes,
  type LocalNodesOptions,
  startEmbeddedCluster,
} from '@lockstep/embedded-kubernetes';
import type { NodeProcesses } from '@lockstep/embedded-kubernetes/node-process';
import { SECRETS } from '@lockstep/kube/objects/core.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { ClusterAccess } from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { accessBy, connect, withoutRights } from '../cluster-connection.ts';
import { WEBHOOK_CONFIGURATIONS } from '../webhook-configurations.ts';
import { restrictAgents } from './agent-restriction.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';

export interface ControlPlane {
  readonly client: Client;
  /** The kubeconfig for kubectl. */
  readonly kubeconfig: string;
  /** Flags by which the operator finds it, and those for features of its nodes and API server. */
  readonly operatorFlags: readonly string[];
  /** Set if each node is a process of its own. */
  readonly nodes?: NodeProcesses | undefined;
  /**
   * Ends the Pods of this machine and everything that is ours. Call it after the operator's end.
   */
  stop(): Promise<void>;
}

export type ControlPlaneOptions = Pick<
  LocalNodesOptions,
  'clock' | 'random' | 'logger' | 'processes' | 'stateDirectory' | 'path' | 'nodes'
>;

/** The namespace of its webhooks' Secret. */
const OPERATOR_NAMESPACE = 'kube-system';
const OPERATOR_USER = 'lockstep-operator';
const ADMIN_USER = 'lockstep-admin';
const WEBHOOK_SECRET = 'lockstep-up-webhook-server-cert';
const HUB_SECRET = 'lockstep-up-hub-server-cert';

/** Writes `kubeconfig`, and one for the operator beside it. */
export async function startEmbedded(
  options: ControlPlaneOptions &
    Pick<EmbeddedClusterOptions, 'spawnNode' | 'nodeMonitorGraceMs' | 'moreMetrics'>,
  kubeconfig: string,
): Promise<ControlPlane> {
  const cluster = await startEmbeddedCluster(options);
  const connection = { server: cluster.server, authority: cluster.authority };
  writeKubeconfig(kubeconfig, {
    ...connection,
    user: ADMIN_USER,
    credentials: cluster.issue(ADMIN_USER, ADMINISTRATORS),
  });
  const operatorKubeconfig = join(options.stateDirectory, 'operator.kubeconfig');
  writeKubeconfig(operatorKubeconfig, {
    ...connection,
    namespace: OPERATOR_NAMESPACE,
    user: OPERATOR_USER,
    credentials: cluster.issue(OPERATOR_USER, ADMINISTRATORS),
  });
  return {
    client: cluster.connect(ADMIN_USER, ADMINISTRATORS),
    nodes: cluster.nodes,
    kubeconfig,
    operatorFlags: ['--kubeconfig', operatorKubeconfig, '--native-restart-rules'],
    stop: () => cluster.stop(),
  };
}

/** Joins the cluster of `kubeconfig`, whose user must be an administrator. */
export async function joinRunning(
  options: ControlPlaneOptions,
  kubeconfig: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<ControlPlane> {
  const path = resolve(kubeconfig);
  const access = await accessBy({ kubeconfig: path });
  expectNoTerminalNeeded(access);
  const { client, close } = await connect(access, signal);
  const stops: (() => Promise<void>)[] = [async () => close()];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) {
      await each().catch((error: unknown) => {
        options.logger.warn('something of ours stays in the cluster', { err: error });
      });
    }
  };
  try {
    await expectNoInstallation(client);
    const nodes = await joinNodes({ ...options, access });
    stops.push(() => nodes.stop());
    stops.push(await restrictAgents(client));
    stops.push(() => removeWebhooks(client, access.namespace));
  } catch (error) {
    await stop();
    throw withoutRights(error);
  }
  const secrets = ['--webhook-secret-name', WEBHOOK_SECRET, '--hub-secret-name', HUB_SECRET];
  const operatorFlags = ['--kubeconfig', path, ...secrets];
  return { client, kubeconfig: path, operatorFlags, stop };
}

/** The operator is a process of its own in the background, and cannot ask the user anything. */
function expectNoTerminalNeeded({ credentials }: ClusterAccess): void {
  if (credentials === undefined || !('plugin' in credentials)) return;
  const { place, interactiveMode } = credentials.plugin;
  if (interactiveMode !== 'Always') return;
  throw new Error(
    `${place}.interactiveMode: "Always": the operator, which runs in the background, cannot ask at a terminal: use a kubeconfig with a token ("kubectl create token ACCOUNT"), or IfAvailable if the plugin remembers a login`,
  );
}

/**
 * Our webhooks answer on this machine, at a URL; webhooks of an installed operator are behind a
 * Service.
 */
export async function expectNoInstallation(client: Client): Promise<void> {
  for (const [of, name] of WEBHOOK_CONFIGURATIONS) {
    const { items } = await client.list(of, { fieldSelector: `metadata.name=${name}` });
    const [{ webhooks = [] } = {}] = items;
    if (webhooks.some(({ clientConfig }) => clientConfig.service !== undefined)) {
      throw new Error(
        'Lockstep is installed in this cluster already, so its JobSets are served without this command',
      );
    }
  }
}

/** While they exist, an API server admits no JobSet without an answer from us. */
async function removeWebhooks(client: Client, namespace: string): Promise<void> {
  const requests = [
    ...WEBHOOK_CONFIGURATIONS.map(([of, name]) => client.delete(of, { name })),
    ...[WEBHOOK_SECRET, HUB_SECRET].map((name) => client.delete(SECRETS, { namespace, name })),
  ];
  for (const outcome of await Promise.allSettled(requests)) {
    if (outcome.status === 'rejected' && !isReason(outcome.reason, 'NotFound')) {
      throw outcome.reason;
    }
  }
}
