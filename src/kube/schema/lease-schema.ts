/** Schemas of `coordination.k8s.io/v1 Lease`. */
import { definitions, int32, string, time } from './builders.ts';
import { kind } from './meta-schema.ts';

const coordination = definitions('io.k8s.api.coordination.v1');

const LEASE_SPEC = coordination('LeaseSpec', {
  holderIdentity: string(),
  leaseDurationSeconds: int32(),
  acquireTime: time(),
  renewTime: time(),
  leaseTransitions: int32(),
  strategy: string(),
  preferredHolder: string(),
});

export const LEASE = kind(
  coordination(
    'Lease',
    { spec: LEASE_SPEC },
    { description: 'Who holds something, and until when.' },
  ),
);
