/** The built-in kind Lease. */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { type ApiObject, textAt, valueAt } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { ageOf } from '../resources/table-layout.ts';

export const LEASE_KIND: BuiltInKind = {
  resource: LEASES,
  strategy: {
    requiresRevision: true,
    createsOnUpdate: true,
    validate: leaseErrors,
    validateUpdate: leaseErrors,
  },
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

const LEAST: readonly (readonly [string, number, string])[] = [
  ['leaseDurationSeconds', 1, 'must be greater than 0'],
  ['leaseTransitions', 0, 'must be greater than or equal to 0'],
];

function leaseErrors(lease: ApiObject): readonly FieldError[] {
  return LEAST.flatMap(([member, least, detail]) => {
    const value = valueAt(lease, 'spec', member);
    const isWrong = typeof value === 'number' && value < least;
    return isWrong ? [invalidValue(`spec.${member}`, value, detail)] : [];
  });
}
