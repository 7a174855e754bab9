/** The built-in kinds ConfigMap, Secret and ServiceAccount. */

import { CONFIG_MAPS, SECRETS, SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import {
  configMapErrors,
  configMapUpdateErrors,
  secretErrors,
  secretUpdateErrors,
} from '../../../api-machinery/validation/configuration.ts';
import { defaultSecret } from '../../../api-machinery/validation/core-defaults.ts';
import { objectAt, textAt, typed } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { ageOf } from '../resources/table-layout.ts';

export const CONFIG_MAP_KIND: BuiltInKind = {
  resource: CONFIG_MAPS,
  strategy: {
    validate: (map) => configMapErrors(typed(map)),
    validateUpdate: (map, old) => configMapUpdateErrors(typed(map), typed(old)),
  },
  shortNames: ['cm'],
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Data', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
    cells: (map, nowMs) => [
      map.metadata.name,
      Object.keys(objectAt(map, 'data')).length + Object.keys(objectAt(map, 'binaryData')).length,
      ageOf(map, nowMs),
    ],
  },
};

export const SECRET_KIND: BuiltInKind = {
  resource: SECRETS,
  fieldLabels: { type: (secret) => textAt(secret, 'type') },
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Type', type: 'string' },
      { name: 'Data', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
    cells: (secret, nowMs) => [
      secret.metadata.name,
      textAt(secret, 'type'),
      Object.keys(objectAt(secret, 'data')).length,
      ageOf(secret, nowMs),
    ],
  },
  strategy: {
    defaults: defaultSecret,
    prepareForCreate: (secret) => defaultSecret(secret),
    prepareForUpdate: (secret) => defaultSecret(secret),
    validate: (secret) => secretErrors(typed(secret)),
    validateUpdate: (secret, old) => secretUpdateErrors(typed(secret), typed(old)),
  },
};

export const SERVICE_ACCOUNT_KIND: BuiltInKind = {
  resource: SERVICE_ACCOUNTS,
  shortNames: ['sa'],
  subresources: [
    {
      name: 'token',
      kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
      verbs: ['create'],
    },
  ],
  strategy: { returnsDeleted: true },
};
