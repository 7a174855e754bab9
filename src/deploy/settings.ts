/** The settings in which installations differ, and what all installed objects share. */
import type { AgentChannel } from '../jobset/injection/agent-hub.ts';
import type { KubeObject } from '../kube/meta.ts';
import { apiVersionOf, type Resource } from '../kube/resource.ts';
import { DEFAULT_MAX_STREAMS, operatorMemoryMiB } from '../operator/configuration/stream-memory.ts';

export interface InstallationSettings {
  readonly namespace: string;
  readonly version: string;
  readonly operatorImage: string;
  readonly agentImage: string;
  /** How agents of JobSets that do not choose reach the operator. */
  readonly agentChannel: AgentChannel;
  /** Whether the operator may give rights to accounts that templates name. */
  readonly agentRights: boolean;
  /** How many agents the hub serves at a time. */
  readonly maxStreams: number;
  /** The memory limit of the operator, as a quantity. */
  readonly operatorMemory: string;
  /** Whether API servers ask the operator about JobSets and their Pods. */
  readonly webhooks: boolean;
  /** Whether to add the objects for the Prometheus operator. */
  readonly monitoring: boolean;
  /** Whether to add a network policy for the operator's Pods. */
  readonly networkPolicy: boolean;
  /** The namespaces in which the operator acts and has rights; empty: all. */
  readonly watchNamespaces: readonly string[];
}

export const DEFAULT_NAMESPACE = 'lockstep-system';

export function defaultSettings(version: string): InstallationSettings {
  return {
    namespace: DEFAULT_NAMESPACE,
    version,
    operatorImage: `lockstep/operator:${version}`,
    agentImage: `lockstep/agent:${version}`,
    agentChannel: 'Hub',
    agentRights: false,
    maxStreams: DEFAULT_MAX_STREAMS,
    operatorMemory: memoryFor(DEFAULT_MAX_STREAMS),
    webhooks: true,
    monitoring: false,
    networkPolicy: false,
    watchNamespaces: [],
  };
}

/** A memory limit that suffices for this many streams. */
export function memoryFor(maxStreams: number): string {
  return `${operatorMemoryMiB(maxStreams)}Mi`;
}

/** An object of an installation, and where the API serves it. */
export interface Installed {
  readonly of: Resource;
  readonly object: KubeObject;
}

/** On everything that is installed, so that it can be found and removed. */
export const INSTALLED_LABELS = {
  'app.kubernetes.io/name': 'lockstep',
  'app.kubernetes.io/part-of': 'lockstep',
} as const;

/** An object with our labels; `body` is everything but its metadata. */
export function installed(
  of: Resource,
  metadata: KubeObject['metadata'],
  body: object = {},
): Installed {
  const labels = { ...INSTALLED_LABELS, ...metadata.labels };
  const object: KubeObject = {
    apiVersion: apiVersionOf(of),
    kind: of.kind,
    metadata: { ...metadata, labels },
    ...body,
  };
  return { of, object };
}
