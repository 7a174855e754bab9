/**
 * The content of a volume: an empty directory, a path of the host, the volume of a claim, or files
 * made of ConfigMaps, Secrets, fields of the Pod and service account tokens. A missing source is a
 * value with a kubelet's text.
 */
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import type {
  DownwardFile,
  KeyToPath,
  Volume,
  VolumeProjection,
} from '@lockstep/kube/objects/pod.ts';
import { claimProblem } from '../../volume-controller/pod-claims.ts';
import { type PodFields, podField, resourceField } from '../field-reference.ts';
import { type ConfigurationSource, configMapBytes, secretBytes } from './configuration-source.ts';

export type VolumeContent =
  | { readonly type: 'directory' }
  | { readonly type: 'host'; readonly path: string; readonly demand: HostPathDemand }
  | { readonly type: 'claim'; readonly claim: PersistentVolumeClaim }
  | {
      readonly type: 'files';
      readonly files: readonly VolumeFile[];
      readonly tokens: readonly TokenFile[];
    }
  | { readonly type: 'problem'; readonly message: string };

/** What must be at a path of the host; some kinds are created if missing. */
export type HostPathDemand = (typeof HOST_PATH_DEMANDS)[keyof typeof HOST_PATH_DEMANDS] | undefined;

const HOST_PATH_DEMANDS = {
  DirectoryOrCreate: { kind: 'directory', isMade: true, text: 'a directory' },
  Directory: { kind: 'directory', isMade: false, text: 'a directory' },
  FileOrCreate: { kind: 'file', isMade: true, text: 'a file' },
  File: { kind: 'file', isMade: false, text: 'a file' },
  Socket: { kind: 'other', isMade: false, text: 'a socket file' },
  CharDevice: { kind: 'other', isMade: false, text: 'a character device' },
  BlockDevice: { kind: 'other', isMade: false, text: 'a block device' },
} as const;

export interface VolumeFile {
  /** Relative to the volume's directory; never leads out of it. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** A file with a token, which has to be requested and renewed. */
export interface TokenFile {
  readonly path: string;
  readonly mode: number;
  readonly audience: string | undefined;
  readonly expirationSeconds: number;
}

const DEFAULT_MODE = 0o644;
const DEFAULT_TOKEN_SECONDS = 3600;

export function volumeContent(
  volume: Volume,
  facts: PodFields,
  source: ConfigurationSource,
): VolumeContent {
  if (volume.emptyDir !== undefined) return { type: 'directory' };
  if (volume.hostPath !== undefined) {
    const { path, type = '' } = volume.hostPath;
    return { type: 'host', path, demand: type === '' ? undefined : HOST_PATH_DEMANDS[type] };
  }
  if (volume.persistentVolumeClaim !== undefined) {
    const { claimName } = volume.persistentVolumeClaim;
    return claimContent(claimName, source.claim(claimName));
  }
  const mode = volume.configMap?.defaultMode ?? volume.secret?.defaultMode ?? undefined;
  const projection = projectionOf(volume);
  if (projection === undefined) {
    const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'of no kind';
    return problem(`this node offers no volumes ${kind}`);
  }
  const defaultMode =
    mode ?? volume.projected?.defaultMode ?? volume.downwardAPI?.defaultMode ?? DEFAULT_MODE;
  return filesOf(projection, defaultMode, facts, source);
}

function claimContent(name: string, claim: PersistentVolumeClaim | undefined): VolumeContent {
  const why = claimProblem(name, claim);
  if (claim === undefined || why !== undefined) return problem(why ?? '');
  return claim.spec?.['volumeMode'] === 'Block'
    ? problem(
        `persistentvolumeclaim "${name}" is of volumeMode Block: this node has directories only`,
      )
    : { type: 'claim', claim };
}

/** Every kind of volume that holds files is a projection of one or more sources. */
function projectionOf(volume: Volume): readonly VolumeProjection[] | undefined {
  if (volume.configMap !== undefined) return [{ configMap: volume.configMap }];
  if (volume.secret !== undefined) {
    const { secretName, ...rest } = volume.secret;
    return [{ secret: { name: secretName, ...rest } }];
  }
  if (volume.downwardAPI !== undefined) return [{ downwardAPI: volume.downwardAPI }];
  return volume.projected === undefined ? undefined : (volume.projected.sources ?? []);
}

function filesOf(
  projection: readonly VolumeProjection[],
  mode: number,
  facts: PodFields,
  source: ConfigurationSource,
): VolumeContent {
  const files: VolumeFile[] = [];
  const tokens: TokenFile[] = [];
  for (const { configMap, secret, downwardAPI, serviceAccountToken, ...others } of projection) {
    const [other] = Object.keys(others);
    if (other !== undefined) return problem(`this node offers no projections ${other}`);
    const found: readonly (Picked | undefined)[] = [
      configMap &&
        pick('configmap', configMap, source.configMap(configMap.name), configMapBytes, mode),
      secret && pick('secret', secret, source.secret(secret.name), secretBytes, mode),
      downwardAPI && fieldFiles(downwardAPI.items ?? [], facts, mode),
    ];
    for (const picked of found) {
      if (picked?.message !== undefined) return problem(picked.message);
      files.push(...(picked?.files ?? []));
    }
    if (serviceAccountToken !== undefined) {
      const { path, audience, expirationSeconds = DEFAULT_TOKEN_SECONDS } = serviceAccountToken;
      tokens.push({ path, audience, expirationSeconds, mode });
    }
  }
  const stray = [...files, ...tokens].find(({ path }) => leadsOut(path));
  if (stray !== undefined)
    return problem(`path ${JSON.stringify(stray.path)}: leads out of the volume`);
  return { type: 'files', files, tokens };
}

type Picked =
  | { readonly files: readonly VolumeFile[]; readonly message: undefined }
  | { readonly files: undefined; readonly message: string };

/** The files of a ConfigMap or Secret: all its keys, or those that `items` names. */
function pick<T>(
  kind: 'configmap' | 'secret',
  reference: {
    readonly name: string;
    readonly items?: readonly KeyToPath[];
    readonly optional?: boolean;
  },
  object: T | undefined,
  bytesOf: (object: T) => ReadonlyMap<string, Uint8Array>,
  mode: number,
): Picked {
  if (object === undefined) {
    if (reference.optional === true) return { files: [], message: undefined };
    return { files: undefined, message: `${kind} "${reference.name}" not found` };
  }
  const values = bytesOf(object);
  if (reference.items === undefined) {
    const files = [...values].map(([path, bytes]) => ({ path, bytes, mode }));
    return { files, message: undefined };
  }
  const files: VolumeFile[] = [];
  for (const item of reference.items) {
    const bytes = values.get(item.key);
    if (bytes !== undefined) {
      files.push({ path: item.path, bytes, mode: item.mode ?? mode });
    } else if (reference.optional !== true) {
      return { files: undefined, message: `references non-existent ${kind} key: ${item.key}` };
    }
  }
  return { files, message: undefined };
}

function fieldFiles(items: readonly DownwardFile[], facts: PodFields, mode: number): Picked {
  const files: VolumeFile[] = [];
  for (const { path, fieldRef, resourceFieldRef, mode: ownMode = mode } of items) {
    const text = fieldRef
      ? podField(facts, fieldRef.fieldPath)
      : resourceFieldRef && resourceField(facts, resourceFieldRef, undefined);
    if (text === undefined) {
      const message = resourceFieldRef
        ? `container ${resourceFieldRef.containerName ?? ''} has no resource ${resourceFieldRef.resource}`
        : `unsupported fieldPath: ${fieldRef?.fieldPath ?? '(none)'}`;
      return { files: undefined, message };
    }
    files.push({ path, bytes: Buffer.from(text), mode: ownMode });
  }
  return { files, message: undefined };
}

/** Validation refuses such paths; the node does not rely on it. */
export function leadsOut(path: string): boolean {
  return path.startsWith('/') || path.split('/').includes('..');
}

function problem(message: string): VolumeContent {
  return { type: 'problem', message };
}
