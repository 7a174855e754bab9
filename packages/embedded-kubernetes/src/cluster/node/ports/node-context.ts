/** What every part of the node's shell works with. */

import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { EventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import type { ProcessRunner } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { ProcessKeeper } from '../../ports/process-keeper.ts';
import type { BackoffLimits } from '../backoff.ts';
import type { NodeNetwork, PodAddresses } from '../pod-addresses.ts';
import type { NodeFiles } from './node-files.ts';
import type { PodNamespacesState } from './pod-namespaces.ts';
import type { ProbeTransport } from './probe-transport.ts';
import type { StreamingPorts } from './streaming-ports.ts';

/** The ports by which a node reaches the world. */
export interface NodePorts extends ClientPorts {
  readonly processes: ProcessRunner;
  /** Set if processes outlive the agent, so that a later life of it can take them over. */
  readonly keeper?: ProcessKeeper | undefined;
  /** Gives containers namespaces; if absent they have none, and no Event says so. */
  readonly namespaces?: PodNamespacesState | undefined;
  readonly files: NodeFiles;
  readonly probes: ProbeTransport;
  readonly streaming: StreamingPorts;
}

export interface NodeContext extends NodePorts {
  readonly nodeName: string;
  /** Amounts of resources that the node offers. */
  readonly allocatable: StringMap;
  readonly events: EventRecorder;
  readonly network: NodeNetwork;
  readonly addresses: PodAddresses;
  readonly backoff: BackoffLimits;
  readonly rootDirectory: string;
  /** Where the volumes of claims are. */
  readonly volumesDirectory: string;
  /** The hosts file of a namespace. */
  readonly hostsPath: (pod: Pod) => string;
  /** Where Pods reach the API server. */
  readonly apiServer: { readonly host: string; readonly port: number };
  /** PATH of the containers. */
  readonly path: string;
}

/** `<root>/pods/<uid>`: volumes and containers of a Pod; removed at the Pod's end. */
export function podDirectory(context: NodeContext, podUid: string): string {
  return `${context.rootDirectory}/pods/${podUid}`;
}

/** `<root>/logs/<namespace>_<name>_<uid>`: kept until the Pod is deleted. */
export function podLogDirectory(
  context: NodeContext,
  {
    namespace,
    name,
    uid,
  }: { readonly namespace: string; readonly name: string; readonly uid: string },
): string {
  return `${context.rootDirectory}/logs/${namespace}_${name}_${uid}`;
}
