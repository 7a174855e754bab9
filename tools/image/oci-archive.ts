/**
 * Writes an image as one archive that is both an OCI image layout (`index.json`) and the output of
 * `docker save` (`manifest.json`) over shared blobs, so containerd and Docker can both import it.
 * Equal layers give equal digests.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { ImageError } from './image-error.ts';
import { type TarEntry, tarOf } from './tar.ts';

export interface Image {
  /** `REPOSITORY:TAG` */
  readonly name: string;
  readonly version: string;
  readonly architecture: Architecture;
  /** From below to above. Images that share their lower layers share them on nodes too. */
  readonly layers: readonly Layer[];
  readonly entrypoint: readonly string[];
  readonly env: readonly string[];
  readonly user: string;
}

export interface Layer {
  readonly blob: Blob;
  /** The digest of its uncompressed content: `sha256:...`. */
  readonly diffId: string;
}

interface Blob {
  readonly content: Buffer;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

export type Architecture = 'amd64' | 'arm64';

/** The architecture of this process. Throws if we make no images for it. */
export function machineArchitecture(arch: string = process.arch): Architecture {
  if (arch === 'x64') return 'amd64';
  if (arch === 'arm64') return 'arm64';
  throw new ImageError(`images are made for x64 and arm64, not for ${arch}`);
}

export const MEDIA_TYPES = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

export interface ImageArchive {
  readonly content: Buffer;
  /** The digest of the manifest, `sha256:...`, which identifies the image. */
  readonly digest: string;
}

export function imageArchive(image: Image): ImageArchive {
  const { layers, architecture, name } = image;
  const config = jsonBlob(configOf(image));
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: descriptor(MEDIA_TYPES.config, config),
    layers: layers.map(({ blob }) => descriptor(MEDIA_TYPES.layer, blob)),
    annotations: annotationsOf(image),
  });
  const index = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests: [
      {
        ...descriptor(MEDIA_TYPES.manifest, manifest),
        platform: { architecture, os: 'linux' },
        annotations: {
          'io.containerd.image.name': `${IMPLIED_REGISTRY}/${name}`,
          'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
        },
      },
    ],
  };
  const forDocker = [
    {
      Config: pathOf(config),
      RepoTags: [name],
      Layers: layers.map(({ blob }) => pathOf(blob)),
    },
  ];
  const content = tarOf([
    ...DIRECTORIES,
    file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    file('index.json', json(index)),
    file('manifest.json', json(forDocker)),
    ...[config, manifest, ...layers.map(({ blob }) => blob)].map((blob) =>
      file(pathOf(blob), blob.content),
    ),
  ]);
  return { content, digest: `sha256:${manifest.sha256}` };
}

/**
 * The implied registry of short names: nodes look for images by their full names, and an import
 * does not complete them.
 */
const IMPLIED_REGISTRY = 'docker.io';

const DIRECTORIES: readonly TarEntry[] = ['blobs', 'blobs/sha256'].map((path) => ({
  kind: 'Directory',
  path,
  mode: 0o755,
}));

/** `level`: 1 (fast) to 9 (small). */
export function compressedLayer(entries: readonly TarEntry[], level: number): Layer {
  const tar = tarOf(entries);
  return { blob: blobOf(gzipSync(tar, { level })), diffId: `sha256:${blobOf(tar).sha256}` };
}

function configOf(image: Image): object {
  return {
    architecture: image.architecture,
    os: 'linux',
    created: EPOCH,
    config: {
      User: image.user,
      Env: image.env,
      Entrypoint: image.entrypoint,
      WorkingDir: '/',
      Labels: annotationsOf(image),
    },
    rootfs: { type: 'layers', diff_ids: image.layers.map(({ diffId }) => diffId) },
    history: image.layers.map(() => ({ created: EPOCH, created_by: 'npm run image' })),
  };
}

/** A constant time, so that the digest depends on the content alone. */
const EPOCH = '1970-01-01T00:00:00Z';

function annotationsOf({ name, version }: Image): Readonly<Record<string, string>> {
  return {
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.title': name.slice(0, name.lastIndexOf(':')),
    'org.opencontainers.image.version': version,
  };
}

function blobOf(content: Buffer): Blob {
  return { content, sha256: createHash('sha256').update(content).digest('hex') };
}

function jsonBlob(value: object): Blob {
  return blobOf(json(value));
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function descriptor(mediaType: string, { content, sha256 }: Blob): object {
  return { mediaType, digest: `sha256:${sha256}`, size: content.length };
}

function pathOf({ sha256 }: Blob): string {
  return `blobs/sha256/${sha256}`;
}

function file(path: string, content: Buffer): TarEntry {
  return { kind: 'File', path, mode: 0o644, content };
}
