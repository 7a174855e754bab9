/**
 * Makes the node known: its Node object with capacity, addresses and conditions, and the Lease that
 * shows the control plane that it lives. Both are renewed until the node stops; failures are logged
 * and retried.
 */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { LEASES, type Lease } from '@lockstep/kube/objects/lease.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import { RESTART_ALL_FEATURE } from '@lockstep/kube/objects/restart-rule.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import {
  type Clock,
  microTimestamp,
  sleep,
  timestamp,
} from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { isReason } from '@lockstep/kube/status.ts';

/** What the machine offers, by resource name: `cpu`, `memory`, `pods`, `ephemeral-storage`. */
export interface Machine {
  readonly capacity: StringMap;
  /** As in `nodeInfo`: `arm64` and `linux`, not Node's names. */
  readonly architecture: string;
  readonly operatingSystem: string;
  readonly kernelVersion: string;
}

export interface NodeRegistrationOptions {
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly machine: Machine;
  readonly hostIP: string;
  readonly podCIDR: string | undefined;
  readonly kubeletPort: number;
  /** Extra labels of the Node. */
  readonly labels: StringMap;
  /** For the Lease; `LEASE_RENEWAL_MS` by default. */
  readonly leaseRenewalMs?: number | undefined;
}

export interface NodeRegistration {
  stop(): Promise<void>;
}

/** A kubelet's: the lease is renewed four times in its life, the status every five minutes. */
const LEASE_DURATION_SECONDS = 40;
export const LEASE_RENEWAL_MS = 10_000;
const STATUS_RENEWAL_MS = 300_000;
const RETRY_MS = 1_000;
const API_TIMEOUT_MS = 10_000;
/** The namespace of the Lease of each Node. */
export const LEASE_NAMESPACE = 'kube-node-lease';
const RUNTIME = 'lockstep://';
/** The API that this node knows. */
const KUBELET_VERSION = 'v1.36.3+lockstep';
/** Sorted, as the API demands. */
const DECLARED_FEATURES = [RESTART_ALL_FEATURE];

/** Whether a node agent of ours registered it, now or earlier. */
export function isLocalNode({ status }: Node): boolean {
  return status?.nodeInfo?.['containerRuntimeVersion']?.startsWith(RUNTIME) ?? false;
}

/** Resolves once the Node exists; rejects with the signal's reason if that never happens. */
export async function registerNode(
  options: NodeRegistrationOptions,
  signal: AbortSignal,
): Promise<NodeRegistration> {
  const stop = new AbortController();
  await untilDone(options, signal, 'the node could not be registered yet', (limit) =>
    applyNode(options, limit),
  );
  const loops = [
    repeat(
      options,
      options.leaseRenewalMs ?? LEASE_RENEWAL_MS,
      stop.signal,
      'the lease',
      async (limit) => {
        await renewLease(options, limit);
        await contradict(options, limit);
      },
    ),
    repeat(options, STATUS_RENEWAL_MS, stop.signal, "the node's status", (limit) =>
      applyNode(options, limit),
    ),
  ];
  return {
    async stop() {
      stop.abort(new Error('the node stops'));
      await Promise.all(loops);
    },
  };
}

async function applyNode(options: NodeRegistrationOptions, signal: AbortSignal): Promise<void> {
  const { client, name } = options;
  const known = await unlessGone(options.client.get(NODES, { name: options.name }, { signal }));
  const node = nodeObject(options, known);
  if (known === undefined) {
    await client.create(NODES, node, { signal });
    return;
  }
  const labels = { metadata: { labels: node.metadata.labels } };
  await client.patch(NODES, { name }, { type: 'strategic', patch: labels }, { signal });
  const status = { status: node.status };
  await client.patch(
    NODES,
    { name },
    { type: 'strategic', patch: status },
    { subresource: 'status', signal },
  );
}

/** Says at once that the node lives if the control plane has given it up meanwhile. */
async function contradict(options: NodeRegistrationOptions, signal: AbortSignal): Promise<void> {
  const known = await unlessGone(options.client.get(NODES, { name: options.name }, { signal }));
  // A deleted Node is registered again with the next status, not at once.
  if (known === undefined) return;
  const ready = known.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') await applyNode(options, signal);
}

function nodeObject(options: NodeRegistrationOptions, known: Node | undefined): Node {
  const { name, machine, hostIP, podCIDR, kubeletPort, clock } = options;
  const { architecture, operatingSystem, kernelVersion, capacity } = machine;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': architecture,
        'kubernetes.io/os': operatingSystem,
        ...options.labels,
      },
    },
    spec: podCIDR === undefined ? {} : { podCIDR },
    status: {
      capacity,
      allocatable: capacity,
      conditions: conditions(known, timestamp(clock)),
      addresses: [
        { type: 'InternalIP', address: hostIP },
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        architecture,
        operatingSystem,
        kernelVersion,
        osImage: operatingSystem,
        containerRuntimeVersion: `${RUNTIME}1`,
        kubeletVersion: KUBELET_VERSION,
        kubeProxyVersion: '',
        machineID: '',
        systemUUID: '',
        bootID: '',
      },
      declaredFeatures: DECLARED_FEATURES,
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
    },
  };
}

/** An unchanged condition keeps its transition time. */
function conditions(
  known: Node | undefined,
  now: string,
): NonNullable<NonNullable<Node['status']>['conditions']> {
  return CONDITIONS.map(([type, status, reason, message]) => {
    const before = known?.status?.conditions?.find((condition) => condition.type === type);
    const isSame = before?.status === status && before.lastTransitionTime !== undefined;
    const lastTransitionTime = isSame ? before.lastTransitionTime : now;
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime };
  });
}

const CONDITIONS = [
  [
    'MemoryPressure',
    'False',
    'KubeletHasSufficientMemory',
    'kubelet has sufficient memory available',
  ],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

async function renewLease(options: NodeRegistrationOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, name } = options;
  const at = { namespace: LEASE_NAMESPACE, name };
  const renewTime = microTimestamp(clock);
  const patch = { spec: { renewTime, holderIdentity: name } };
  try {
    await client.patch(LEASES, at, { type: 'merge', patch }, { signal });
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: at,
      spec: { ...patch.spec, leaseDurationSeconds: LEASE_DURATION_SECONDS },
    };
    await client.create(LEASES, lease, { signal });
  }
}

/** Does it now and every `intervalMs` from then on, until `signal` aborts. */
async function repeat(
  options: NodeRegistrationOptions,
  intervalMs: number,
  signal: AbortSignal,
  what: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  try {
    for (;;) {
      await untilDone(options, signal, `${what} could not be renewed yet`, work);
      await sleep(options.clock, intervalMs, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Tries again every second until it succeeds; rejects only when `signal` aborts. */
async function untilDone(
  { clock, logger }: NodeRegistrationOptions,
  signal: AbortSignal,
  message: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      await withDeadline(clock, API_TIMEOUT_MS, signal, work);
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn(message, { err: error });
    }
    await sleep(clock, RETRY_MS, signal);
  }
}
