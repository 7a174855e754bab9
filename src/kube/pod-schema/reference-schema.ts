/** Schemas of `core/v1` references: to objects, to keys of ConfigMaps and Secrets, to fields. */
import { atomic, boolean, defaulted, definitions, int32, string } from '../schema/builders.ts';
import { QUANTITY } from './meta-schema.ts';

const core = definitions('io.k8s.api.core.v1');

export const LOCAL_OBJECT_REFERENCE = atomic(core('LocalObjectReference', { name: string() }));

export const OBJECT_REFERENCE = atomic(
  core('ObjectReference', {
    kind: string(),
    namespace: string(),
    name: string(),
    uid: string(),
    apiVersion: string(),
    resourceVersion: string(),
    fieldPath: string(),
  }),
);

export const TYPED_LOCAL_OBJECT_REFERENCE = atomic(
  core(
    'TypedLocalObjectReference',
    { apiGroup: string(), kind: string(), name: string() },
    { required: ['kind', 'name'] },
  ),
);

export const TYPED_OBJECT_REFERENCE = core(
  'TypedObjectReference',
  {
    apiGroup: string(),
    kind: string(),
    name: string(),
    namespace: string(),
  },
  { required: ['kind', 'name'] },
);

export const OBJECT_FIELD_SELECTOR = atomic(
  core(
    'ObjectFieldSelector',
    { apiVersion: string(), fieldPath: string() },
    { required: ['fieldPath'] },
  ),
);

export const RESOURCE_FIELD_SELECTOR = atomic(
  core(
    'ResourceFieldSelector',
    {
      containerName: string(),
      resource: string(),
      divisor: QUANTITY,
    },
    { required: ['resource'] },
  ),
);

export const CONFIG_MAP_KEY_SELECTOR = atomic(
  core(
    'ConfigMapKeySelector',
    { name: string(), key: string(), optional: boolean() },
    { required: ['key'] },
  ),
);

export const SECRET_KEY_SELECTOR = atomic(
  core(
    'SecretKeySelector',
    { name: string(), key: string(), optional: boolean() },
    { required: ['key'] },
  ),
);

export const FILE_KEY_SELECTOR = atomic(
  core(
    'FileKeySelector',
    {
      volumeName: string(),
      path: string(),
      key: string(),
      optional: defaulted(false, boolean()),
    },
    { required: ['volumeName', 'path', 'key'] },
  ),
);

export const KEY_TO_PATH = core(
  'KeyToPath',
  { key: string(), path: string(), mode: int32() },
  { required: ['key', 'path'] },
);
