import type { KubeObject } from '../kube/meta.ts';
import { apiVersionOf, type Resource } from '../kube/resource.ts';
import { DEFAULT_MAX_STREAMS, operatorMemoryMiB } from '../operator/hub/stream-memory.ts';

/** What differs between installations. */
export interface InstallationSettings {
  readonly namespace: string;
  readonly version: string;
  readonly operatorImage: string;
  readonly agentImage: string;
  /** Agents that the hub serves at a time. */
  readonly maxStreams: number;
  /** Limit of the operator's memory, a quantity. */
  readonly operatorMemory: string;
  /** Whether API servers ask the operator about JobSets and their Pods. */
  readonly webhooks: boolean;
  /** Whether to add what the operator of Prometheus reads. */
  readonly monitoring: boolean;
  /** Whether to add who may reach the operator's Pods. */
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
    maxStreams: DEFAULT_MAX_STREAMS,
    operatorMemory: memoryFor(DEFAULT_MAX_STREAMS),
    webhooks: true,
    monitoring: false,
    networkPolicy: false,
    watchNamespaces: [],
  };
}

/** The limit with which an operator with so many streams does not run out of memory. */
export function memoryFor(maxStreams: number): string {
  return `${operatorMemoryMiB(maxStreams)}Mi`;
}

/** An object of an installation, and where the API serves it. */
export interface Installed {
  readonly of: Resource;
  readonly object: KubeObject;
}

/** Everything that is installed wears it, so that it can be found and removed. */
export const INSTALLED_LABELS = {
  'app.kubernetes.io/name': 'lockstep',
  'app.kubernetes.io/part-of': 'lockstep',
} as const;

/** An object with our labels; `body` is all that follows its metadata. */
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
