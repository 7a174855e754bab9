import type { KubeObject } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';

/** `coordination.k8s.io/v1 Lease`. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}
export const LEASES: Resource<Lease> = resource('coordination.k8s.io/v1', 'leases', 'Lease');
