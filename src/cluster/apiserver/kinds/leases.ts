import { LEASES } from '../../../kube/lease.ts';
import { LEASE } from '../../../kube/schema/lease-schema.ts';
import { textAt } from '../api-object.ts';
import type { BuiltInKind } from '../built-in-kind.ts';
import { ageOf } from '../table.ts';

export const LEASE_KIND: BuiltInKind = {
  resource: LEASES,
  schema: LEASE,
  strategy: { requiresRevision: true, createsOnUpdate: true },
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Holder', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
    cells: (lease, nowMs) => [
      lease.metadata.name,
      textAt(lease, 'spec', 'holderIdentity'),
      ageOf(lease, nowMs),
    ],
  },
};
