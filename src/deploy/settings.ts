/** The settings in which installations differ, and what all installed objects share. */
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { type Resource, typeMetaOf } from '@lockstep/kube/resource.ts';
import { type GivenSettings, settingValues } from '../operator/configuration/setting-values.ts';
import { operatorMemoryMiB } from '../operator/configuration/stream-memory.ts';

export interface InstallationSettings {
  readonly namespace: string;
  readonly version: string;
  readonly operatorImage: string;
  /** Secrets for the registry of that image, in the operator's namespace. */
  readonly imagePullSecrets: readonly string[];
  /** What the operator's Configuration file says. All other settings have their defaults. */
  readonly configuration: GivenSettings;
  /** The memory limit of the operator, as a quantity. */
  readonly operatorMemory: string;
  /** Whether API servers ask the operator about JobSets and their Pods. */
  readonly webhooks: boolean;
  /** Whether to add the objects for the Prometheus operator. */
  readonly monitoring: boolean;
  /** Whether to add a network policy for the operator's Pods. */
  readonly networkPolicy: boolean;
  /** Whether the operator acts only on JobSets that name it, beside upstream's controller. */
  readonly onlyManaged: boolean;
  /** Whether to apply our definition of JobSets; otherwise there is one already. */
  readonly definition: boolean;
  /** The namespaces in which the operator acts and has rights; empty: all. */
  readonly watchNamespaces: readonly string[];
}

export const DEFAULT_NAMESPACE = 'lockstep-system';

export function defaultSettings(version: string): InstallationSettings {
  return {
    namespace: DEFAULT_NAMESPACE,
    version,
    operatorImage: defaultOperatorImage(version),
    imagePullSecrets: [],
    configuration: {},
    operatorMemory: memoryFor({}),
    webhooks: true,
    monitoring: false,
    networkPolicy: false,
    onlyManaged: false,
    definition: true,
    watchNamespaces: [],
  };
}

export function defaultOperatorImage(version: string): string {
  return `lockstep/operator:${version}`;
}

/** A memory limit that suffices with these settings. */
export function memoryFor(configuration: GivenSettings): string {
  return `${operatorMemoryMiB(settingValues(configuration).maxStreams)}Mi`;
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
    ...typeMetaOf(of),
    metadata: { ...metadata, labels },
    ...body,
  };
  return { of, object };
}
