/** The built-in kind PersistentVolumeClaim. */

import { resource } from '@lockstep/kube/resource.ts';
import { defaultPersistentVolumeClaim } from '../../../api-machinery/validation/core-defaults.ts';
import { listAt, textAt } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { ageOf } from '../resources/table-layout.ts';
import { claimErrors, claimUpdateErrors } from './claim-validation.ts';

const SHORT_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

export const PERSISTENT_VOLUME_CLAIM_KIND: BuiltInKind = {
  resource: resource('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  shortNames: ['pvc'],
  hasStatus: true,
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Status', type: 'string' },
      { name: 'Volume', type: 'string' },
      { name: 'Capacity', type: 'string' },
      { name: 'Access Modes', type: 'string' },
      { name: 'StorageClass', type: 'string' },
      { name: 'VolumeAttributesClass', type: 'string' },
      { name: 'Age', type: 'string' },
      { name: 'VolumeMode', type: 'string', priority: 1 },
    ],
    cells: (claim, nowMs) => [
      claim.metadata.name,
      claim.metadata.deletionTimestamp === undefined
        ? textAt(claim, 'status', 'phase')
        : 'Terminating',
      textAt(claim, 'spec', 'volumeName'),
      textAt(claim, 'status', 'capacity', 'storage'),
      listAt(claim, 'status', 'accessModes')
        .map((mode) => SHORT_MODES[String(mode)] ?? String(mode))
        .join(','),
      textAt(claim, 'spec', 'storageClassName'),
      textAt(claim, 'spec', 'volumeAttributesClassName') || '<unset>',
      ageOf(claim, nowMs),
      textAt(claim, 'spec', 'volumeMode') || '<unset>',
    ],
  },
  strategy: {
    returnsDeleted: true,
    defaults: defaultPersistentVolumeClaim,
    prepareForCreate: (claim) =>
      defaultPersistentVolumeClaim({ ...claim, status: { phase: 'Pending' } }),
    prepareForUpdate: defaultPersistentVolumeClaim,
    validate: claimErrors,
    validateUpdate: (claim, old, subresource) =>
      subresource === undefined ? claimUpdateErrors(claim, old) : [],
  },
};
