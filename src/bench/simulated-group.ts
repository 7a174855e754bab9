/**
 * A JobSet whose Pods exist in the API only: they are never scheduled, their status is written by
 * hand, and simulated agents act for them.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import { accountToken } from '../cli/account-token.ts';
import { variableOf } from '../cli/jobset-status/direct-members.ts';
import { PORTS } from '../cli/ports.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import {
  ENV_HUB_CA,
  ENV_HUB_URL,
  HUB_AUDIENCE,
  JOBSET_NAME,
  RESTART_BACKOFF,
  RESTART_MODE,
} from '../jobset/names.ts';
import { AgentFleet } from './agent-fleet.ts';
import type { FleetStart, SimulatedAgent } from './agent-process.ts';
import { until } from './until.ts';

const STAGE = 'w';

/** The operator gives it the rights of agents of the API channel. */
const ACCOUNT = 'bench-agents';

const PARALLEL_REQUESTS = 20;
const WAIT = { timeoutMs: 300_000, pollMs: 200 };

export class SimulatedGroup {
  readonly jobSet: Stored<JobSet>;
  readonly pods: readonly Stored<Pod>[];
  readonly #client: Client;

  private constructor(client: Client, jobSet: Stored<JobSet>, pods: readonly Stored<Pod>[]) {
    this.#client = client;
    this.jobSet = jobSet;
    this.pods = pods;
  }

  /** Resolves when all Pods are there. */
  static async create(
    client: Client,
    namespace: string,
    size: number,
    signal: AbortSignal,
  ): Promise<SimulatedGroup> {
    const metadata = { namespace, name: ACCOUNT };
    const account = { apiVersion: 'v1', kind: SERVICE_ACCOUNTS.kind, metadata };
    await client.patch(SERVICE_ACCOUNTS, metadata, {
      type: 'apply',
      patch: account,
      fieldManager: 'bench',
    });
    const jobSet = await client.create(JOBSETS, manifest(namespace, size));
    const pods = await podsOf(client, jobSet, size, signal);
    return new SimulatedGroup(client, jobSet, pods);
  }

  /** Writes into all Pods that they run. */
  async run(signal: AbortSignal): Promise<void> {
    const { namespace = '' } = this.jobSet.metadata;
    await forEachConcurrently(this.pods, PARALLEL_REQUESTS, async ({ metadata: { name } }) => {
      const patch = { type: 'merge', patch: { status: RUNNING } } as const;
      const options = { subresource: 'status', signal } as const;
      await this.#client.patch(PODS, { namespace, name }, patch, options);
    });
  }

  /** Counts writes of the JobSet by any writer, until it is stopped. */
  async countWrites(signal: AbortSignal): Promise<{ readonly stop: () => Promise<number> }> {
    const { namespace, name } = this.jobSet.metadata;
    const jobSets = createInformer({
      client: this.#client,
      resource: JOBSETS,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      ...PORTS,
    });
    await jobSets.whenSynced(signal);
    let writes = 0;
    jobSets.subscribe({ updated: () => writes++ });
    return {
      stop: async () => {
        await jobSets.stop();
        return writes;
      },
    };
  }

  /** Starts the agents of its Pods, by default supervisors that connect to the hub. */
  async startFleet(
    signal: AbortSignal,
    how: Partial<Pick<FleetStart, 'channel' | 'mode' | 'server' | 'authority'>> = {},
  ): Promise<AgentFleet> {
    const { namespace = '', name: jobSetName, uid: jobSetUid } = this.jobSet.metadata;
    const { channel = 'Hub', mode = 'Supervisor', ...server } = how;
    const agents = await this.#agents(channel);
    const of = { namespace, jobSetName, jobSetUid, replicatedJobName: STAGE, agents };
    return AgentFleet.start(
      { type: 'start', channel, mode, ...this.hub, ...server, ...of },
      signal,
    );
  }

  /** The address and authority of the hub, as in injected agents. */
  get hub(): { readonly server: string; readonly authority: string } {
    return { server: this.#variable(ENV_HUB_URL), authority: this.#variable(ENV_HUB_CA) };
  }

  /** One agent per Pod, with a token for the hub or for the API server. */
  async #agents(channel: 'Hub' | 'API'): Promise<readonly SimulatedAgent[]> {
    const agents: SimulatedAgent[] = [];
    const { namespace = '' } = this.jobSet.metadata;
    const account = { namespace, name: ACCOUNT };
    await forEachConcurrently(this.pods, PARALLEL_REQUESTS, async ({ metadata: { name, uid } }) => {
      const audiences = channel === 'Hub' ? [HUB_AUDIENCE] : undefined;
      const token = await tokenOf(this.#client, account, { name, uid }, audiences);
      agents.push({ podName: name, podUid: uid, token });
    });
    return agents;
  }

  #variable(name: string): string {
    const spec = this.pods[0]?.spec;
    const value = spec && variableOf(spec, name);
    if (value === undefined) throw new Error(`the Pods have no variable ${name}`);
    return value;
  }
}

/** A token of an account, bound to a Pod. */
export function tokenOf(
  client: Client,
  account: { readonly namespace: string; readonly name: string },
  { name, uid }: { readonly name: string; readonly uid: string },
  audiences?: readonly string[],
): Promise<string> {
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name, uid };
  return accountToken(client, account, { ...(audiences && { audiences }), boundObjectRef });
}

const RUNNING = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
} as const;

async function podsOf(
  client: Client,
  { metadata: { namespace = '', name } }: Stored<JobSet>,
  size: number,
  signal: AbortSignal,
): Promise<readonly Stored<Pod>[]> {
  const selected = { namespace, labelSelector: `${JOBSET_NAME}=${name}`, signal };
  const areThere = async (): Promise<boolean> =>
    (await client.listMetadata(PODS, selected)).items.length === size;
  await until(`${size} Pods exist`, areThere, { ...WAIT, signal });
  return (await client.list(PODS, selected)).items;
}

function manifest(namespace: string, size: number): JobSet {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: {
      name: `bench-${size}`,
      namespace,
      annotations: { [RESTART_MODE]: 'Supervisor', [RESTART_BACKOFF]: 'Disabled' },
    },
    spec: {
      failurePolicy: { maxRestarts: 1000, restartStrategy: 'InPlaceRestart' },
      replicatedJobs: [
        {
          name: STAGE,
          replicas: 1,
          template: {
            spec: {
              parallelism: size,
              completions: size,
              template: {
                spec: {
                  serviceAccountName: ACCOUNT,
                  schedulerName: 'nobody',
                  containers: [{ name: 'worker', image: 'none', command: ['true'] }],
                },
              },
            },
          },
        },
      ],
    },
  };
}
