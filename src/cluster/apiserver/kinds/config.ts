import { CONFIG_MAPS, SECRETS, SERVICE_ACCOUNTS } from '../../../kube/core.ts';
import { CONFIG_MAP, SECRET, SERVICE_ACCOUNT } from '../../../kube/schema/core-schema.ts';
import { listAt, objectAt, textAt, withMembers } from '../api-object.ts';
import type { BuiltInKind } from '../built-in-kind.ts';
import { ageOf } from '../table.ts';

export const CONFIG_MAP_KIND: BuiltInKind = {
  resource: CONFIG_MAPS,
  schema: CONFIG_MAP,
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
  schema: SECRET,
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
    prepareForCreate: (secret) => {
      const type = textAt(secret, 'type');
      return { ...withTextAsData(secret), type: type === '' ? 'Opaque' : type };
    },
    prepareForUpdate: (secret, old) => {
      const type = textAt(secret, 'type');
      return { ...withTextAsData(secret), type: type === '' ? textAt(old, 'type') : type };
    },
  },
};

/** `stringData` is for writing only: it is merged into `data`. */
function withTextAsData<T extends object>(secret: T): T {
  const text = Object.entries(objectAt(secret, 'stringData'));
  if (text.length === 0) return withMembers(secret, { stringData: undefined });
  const encoded = text.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]);
  const data = { ...objectAt(secret, 'data'), ...Object.fromEntries(encoded) };
  return withMembers(secret, { stringData: undefined, data });
}

export const SERVICE_ACCOUNT_KIND: BuiltInKind = {
  resource: SERVICE_ACCOUNTS,
  schema: SERVICE_ACCOUNT,
  shortNames: ['sa'],
  subresources: [
    {
      name: 'token',
      kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
      verbs: ['create'],
    },
  ],
  strategy: { returnsDeleted: true },
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Secrets', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
    cells: (account, nowMs) => [
      account.metadata.name,
      listAt(account, 'secrets').length,
      ageOf(account, nowMs),
    ],
  },
};
