/** The type of EndpointSlices. */
import type { KubeObject } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';

/** Addresses behind a Service. If the Service has no selector, its owner writes them. */
export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
  }[];
  readonly ports?: readonly {
    readonly name?: string;
    readonly port: number;
    readonly protocol?: string;
  }[];
}

export const ENDPOINT_SLICES: Resource<EndpointSlice> = resource(
  'discovery.k8s.io/v1',
  'endpointslices',
  'EndpointSlice',
);

/** Label: the Service to which the slice belongs. */
export const SERVICE_NAME = 'kubernetes.io/service-name';
/** Label: the slice's writer, so that no other controller takes it for its own. */
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
