/** The smaller kinds of the core group that Lockstep uses. */
import type { KubeObject, StringMap } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: 'Active' | 'Terminating' };
}
export const NAMESPACES: Resource<Namespace> = resource('v1', 'namespaces', 'Namespace', 'Cluster');

export interface Service extends KubeObject {
  readonly spec?: {
    readonly clusterIP?: string;
    readonly selector?: StringMap;
    readonly publishNotReadyAddresses?: boolean;
    readonly type?: string;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly targetPort?: number | string;
      readonly nodePort?: number;
      readonly protocol?: string;
    }[];
    readonly externalName?: string;
  };
}
export const SERVICES: Resource<Service> = resource('v1', 'services', 'Service');

export interface ConfigMap extends KubeObject {
  readonly data?: StringMap;
  /** Values in base64. */
  readonly binaryData?: StringMap;
  readonly immutable?: boolean;
}
export const CONFIG_MAPS: Resource<ConfigMap> = resource('v1', 'configmaps', 'ConfigMap');

export interface Secret extends KubeObject {
  /** Values in base64. */
  readonly data?: StringMap;
  readonly type?: string;
  readonly immutable?: boolean;
}
export const SECRETS: Resource<Secret> = resource('v1', 'secrets', 'Secret');

export interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean;
  /** Secrets in its namespace, for Pods that name none. */
  readonly imagePullSecrets?: readonly { readonly name: string }[];
}
export const SERVICE_ACCOUNTS: Resource<ServiceAccount> = resource(
  'v1',
  'serviceaccounts',
  'ServiceAccount',
);

/** What a namespace requires of each container, Pod or volume claim in it. */
export interface LimitRange extends KubeObject {
  readonly spec?: {
    readonly limits?: readonly { readonly type: string; readonly min?: StringMap }[];
  };
}
export const LIMIT_RANGES: Resource<LimitRange> = resource('v1', 'limitranges', 'LimitRange');

/** `authentication.k8s.io/v1 TokenRequest`, the body of `POST serviceaccounts/NAME/token`. */
export interface TokenRequest extends KubeObject {
  readonly spec: {
    readonly audiences?: readonly string[];
    readonly expirationSeconds?: number;
    readonly boundObjectRef?: {
      readonly kind: string;
      readonly apiVersion: string;
      readonly name: string;
      readonly uid: string;
    };
  };
  readonly status?: { readonly token: string; readonly expirationTimestamp: string };
}

/** The spec holds only what is needed to compare two claims. */
export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: { readonly phase?: 'Pending' | 'Bound' | 'Lost' };
}
export const PERSISTENT_VOLUME_CLAIMS: Resource<PersistentVolumeClaim> = resource(
  'v1',
  'persistentvolumeclaims',
  'PersistentVolumeClaim',
);
