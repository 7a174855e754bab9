/** Schemas of `coordination.k8s.io/v1 Lease`. */

import { kind } from '../../kube/pod-schema/meta-schema.ts';
import { definitions, int32, string, time } from '../../kube/schema/builders.ts';

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
