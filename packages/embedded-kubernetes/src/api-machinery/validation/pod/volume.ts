/** Validates volumes of Pods, and the mounts that refer to them. */
import {
  duplicate,
  forbiddenField,
  invalidValue,
  required,
  valueNotFound,
} from '@lockstep/kube/field-error.ts';
import { dns1123LabelErrors } from '@lockstep/kube/name-rules.ts';
import type {
  Container,
  DownwardFile,
  KeyToPath,
  Volume,
  VolumeMount,
  VolumeProjection,
} from '@lockstep/kube/objects/pod.ts';
import { parseQuantity } from '@lockstep/kube/quantity.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { fieldReferenceErrors, resourceFieldErrors } from './environment.ts';
import { mountOfDeviceErrors } from './volume-device.ts';

export function volumesErrors(volumes: readonly Volume[], path: string): FieldError[] {
  const names = new Set<string>();
  return volumes.flatMap((volume, index) => {
    const volumePath = `${path}[${index}]`;
    const namePath = `${volumePath}.name`;
    const { name } = volume;
    const errors = sourceErrors(volume, volumePath);
    if (name === '') errors.push(required(namePath));
    else errors.push(...dns1123LabelErrors(name).map((text) => invalidValue(namePath, name, text)));
    if (names.has(name)) errors.push(duplicate(namePath, name));
    // Kubernetes does not remember the name of an invalid volume.
    if (errors.length === 0) names.add(name);
    return errors;
  });
}

function sourceErrors(volume: Volume, path: string): FieldError[] {
  const { hostPath, configMap, secret, projected, downwardAPI, persistentVolumeClaim } = volume;
  const kinds = Object.keys(volume).filter((member) => member !== 'name');
  const errors: FieldError[] = kinds
    .slice(1)
    .map((kind) => forbiddenField(`${path}.${kind}`, 'may not specify more than 1 volume type'));
  if (kinds.length === 0) errors.push(required(path, 'must specify a volume type'));
  if (hostPath !== undefined) {
    if (hostPath.path === '') errors.push(required(`${path}.hostPath.path`));
    else errors.push(...backstepErrors(hostPath.path, `${path}.hostPath.path`));
  }
  if (configMap !== undefined) {
    if ((configMap.name ?? '') === '') errors.push(required(`${path}.configMap.name`));
    errors.push(...filesErrors(configMap, `${path}.configMap`));
  }
  if (secret !== undefined) {
    if ((secret.secretName ?? '') === '') errors.push(required(`${path}.secret.secretName`));
    errors.push(...filesErrors(secret, `${path}.secret`));
  }
  if (downwardAPI !== undefined) {
    errors.push(...modeErrors(downwardAPI.defaultMode, `${path}.downwardAPI.defaultMode`));
    errors.push(...downwardErrors(downwardAPI.items, `${path}.downwardAPI`));
  }
  if (projected !== undefined) {
    errors.push(...modeErrors(projected.defaultMode, `${path}.projected.defaultMode`));
    const sources = projected.sources ?? [];
    errors.push(
      ...sources.flatMap((source, index) =>
        projectionErrors(source, `${path}.projected.sources[${index}]`),
      ),
      ...projectedPathErrors(sources, `${path}.projected`),
    );
  }
  if ((parseQuantity(volume.emptyDir?.sizeLimit ?? '0')?.nano ?? 0n) < 0n) {
    const detail = 'SizeLimit field must be a valid resource quantity';
    errors.push(forbiddenField(`${path}.emptyDir.sizeLimit`, detail));
  }
  if (volume.image !== undefined && (volume.image.reference ?? '') === '') {
    errors.push(required(`${path}.image.reference`));
  }
  if (persistentVolumeClaim?.claimName === '') {
    errors.push(required(`${path}.persistentVolumeClaim.claimName`));
  }
  return errors;
}

function projectionErrors(source: VolumeProjection, path: string): FieldError[] {
  const { serviceAccountToken: token, configMap, secret, downwardAPI } = source;
  const errors: FieldError[] =
    Object.keys(source).length > 1
      ? [forbiddenField(path, 'may not specify more than 1 volume type per source')]
      : [];
  if (configMap !== undefined) {
    if ((configMap.name ?? '') === '') errors.push(required(`${path}.configMap.name`));
    errors.push(...filesErrors(configMap, `${path}.configMap`));
  }
  if (secret !== undefined) {
    if ((secret.name ?? '') === '') errors.push(required(`${path}.secret.name`));
    errors.push(...filesErrors(secret, `${path}.secret`));
  }
  if (downwardAPI !== undefined) {
    errors.push(...downwardErrors(downwardAPI.items, `${path}.downwardAPI`));
  }
  if (token !== undefined) errors.push(...tokenErrors(token, `${path}.serviceAccountToken`));
  return errors;
}

/** Two files of one name. Kubernetes shows the object that the second file comes from, if any. */
function projectedPathErrors(sources: readonly VolumeProjection[], path: string): FieldError[] {
  const taken = new Set<string>();
  const places = sources.flatMap(({ secret, configMap, downwardAPI }) => [
    ...(secret?.items ?? []).map((item) => ({ file: item.path, shown: secret?.name ?? '' })),
    ...(configMap?.items ?? []).map((item) => ({ file: item.path, shown: configMap?.name ?? '' })),
    ...(downwardAPI?.items ?? []).map((item) => ({ file: item.path, shown: item.path })),
  ]);
  return places.flatMap(({ file, shown }) => {
    const isTaken = file !== '' && taken.has(file);
    taken.add(file);
    return isTaken ? [invalidValue(path, shown, 'conflicting duplicate paths')] : [];
  });
}

const TOKEN_EXPIRATION_MIN_SECONDS = 600;
const TOKEN_EXPIRATION_MAX_SECONDS = 2 ** 32;

function tokenErrors(
  token: NonNullable<VolumeProjection['serviceAccountToken']>,
  path: string,
): FieldError[] {
  const { expirationSeconds: seconds } = token;
  const errors =
    token.path === '' ? [required(`${path}.path`)] : localPathErrors(token.path, `${path}.path`);
  if (seconds === undefined) return errors;
  if (seconds < TOKEN_EXPIRATION_MIN_SECONDS) {
    const detail = 'may not specify a duration less than 10 minutes';
    errors.push(invalidValue(`${path}.expirationSeconds`, seconds, detail));
  } else if (seconds > TOKEN_EXPIRATION_MAX_SECONDS) {
    const detail = 'may not specify a duration larger than 2^32 seconds';
    errors.push(invalidValue(`${path}.expirationSeconds`, seconds, detail));
  }
  return errors;
}

function filesErrors(
  source: { readonly items?: readonly KeyToPath[]; readonly defaultMode?: number },
  path: string,
): FieldError[] {
  const items = (source.items ?? []).flatMap((item, index) => {
    const itemPath = `${path}.items[${index}]`;
    return [
      ...(item.key === '' ? [required(`${itemPath}.key`)] : []),
      ...(item.path === ''
        ? [required(`${itemPath}.path`)]
        : localPathErrors(item.path, `${itemPath}.path`)),
      ...modeErrors(item.mode, `${itemPath}.mode`),
    ];
  });
  return [...modeErrors(source.defaultMode, `${path}.defaultMode`), ...items];
}

/** Fields of the Pod that can become a file, besides labels and annotations. */
const DOWNWARD_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Kubernetes does not say which item is wrong. */
function downwardErrors(items: readonly DownwardFile[] | undefined, path: string): FieldError[] {
  return (items ?? []).flatMap((item) => [
    ...(item.path === '' ? [required(`${path}.path`)] : localPathErrors(item.path, `${path}.path`)),
    ...downwardSourceErrors(item, path),
    ...modeErrors(item.mode, `${path}.mode`),
  ]);
}

function downwardSourceErrors(
  { fieldRef, resourceFieldRef }: DownwardFile,
  path: string,
): FieldError[] {
  if (fieldRef !== undefined) {
    const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously';
    return [
      ...fieldReferenceErrors(fieldRef.fieldPath, `${path}.fieldRef`, DOWNWARD_FIELDS),
      ...(resourceFieldRef === undefined ? [] : [invalidValue(path, 'resource', detail)]),
    ];
  }
  if (resourceFieldRef === undefined) {
    return [required(path, 'one of fieldRef and resourceFieldRef is required')];
  }
  const at = `${path}.resourceFieldRef`;
  return (resourceFieldRef.containerName ?? '') === ''
    ? [required(`${at}.containerName`)]
    : resourceFieldErrors(resourceFieldRef, at);
}

/** Octal 0777. */
const FILE_MODE_MAX = 0o777;

function modeErrors(mode: number | undefined, path: string): FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= FILE_MODE_MAX)) return [];
  const detail = 'must be a number between 0 and 0777 (octal), both inclusive';
  return [invalidValue(path, mode, detail)];
}

/** Mounts of a container; `volumes` are the volumes of its Pod. */
export function mountsErrors(
  container: Container,
  volumes: readonly Volume[],
  path: string,
): FieldError[] {
  const names = new Set(volumes.map((volume) => volume.name));
  const mountPaths = new Set<string>();
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const mountPath = `${path}.volumeMounts[${index}]`;
    const errors = [
      ...mountErrors(mount, names, mountPath, `${path}.volumeMounts`),
      ...mountOfDeviceErrors(mount, container, mountPath),
    ];
    if (
      mount.mountPropagation === 'Bidirectional' &&
      container.securityContext?.privileged !== true
    ) {
      const detail = 'Bidirectional mount propagation is available only to privileged containers';
      errors.push(forbiddenField(`${path}.volumeMounts.mountPropagation`, detail));
    }
    if (mountPaths.has(mount.mountPath)) {
      errors.push(invalidValue(`${mountPath}.mountPath`, mount.mountPath, 'must be unique'));
    }
    mountPaths.add(mount.mountPath);
    return errors;
  });
}

function mountErrors(
  mount: VolumeMount,
  volumes: ReadonlySet<string>,
  path: string,
  listPath: string,
): FieldError[] {
  const { name, mountPath, subPath = '', subPathExpr = '' } = mount;
  const errors: FieldError[] = [];
  if (name === '') errors.push(required(`${path}.name`));
  if (!volumes.has(name)) errors.push(valueNotFound(`${path}.name`, name));
  if (mountPath === '') errors.push(required(`${path}.mountPath`));
  if (subPath !== '') errors.push(...localPathErrors(subPath, `${listPath}.subPath`));
  if (subPathExpr !== '') {
    if (subPath !== '') {
      const detail = 'subPathExpr and subPath are mutually exclusive';
      errors.push(invalidValue(`${path}.subPathExpr`, subPathExpr, detail));
    }
    errors.push(...localPathErrors(subPathExpr, `${listPath}.subPathExpr`));
  }
  return errors;
}

/** A path that must stay below its start. */
function localPathErrors(value: string, path: string): FieldError[] {
  const absolute = value.startsWith('/')
    ? [invalidValue(path, value, 'must be a relative path')]
    : [];
  return [...absolute, ...backstepErrors(value, path)];
}

function backstepErrors(value: string, path: string): FieldError[] {
  return value.split('/').includes('..')
    ? [invalidValue(path, value, "must not contain '..'")]
    : [];
}
