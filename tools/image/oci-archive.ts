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

export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

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
  const { name } = image;
  const { manifest, config, layers, blobs, described } = partsOf(image);
  const listed = { ...described, annotations: namesOf(name) };
  const forDocker = [{ Config: pathOf(config), RepoTags: [name], Layers: layers.map(pathOf) }];
  const content = layoutOf([listed], blobs, [file('manifest.json', json(forDocker))]);
  return { content, digest: `sha256:${manifest.sha256}` };
}

/** One image for several architectures, under one index: what a registry takes. */
export function indexArchive(images: readonly Image[]): ImageArchive {
  const [first] = images;
  if (first === undefined) throw new ImageError('an index has at least one image');
  const parts = images.map(partsOf);
  const index = jsonBlob({
    ...INDEX,
    manifests: parts.map(({ described }) => described),
    annotations: annotationsOf(first),
  });
  const listed = { ...descriptor(MEDIA_TYPES.index, index), annotations: namesOf(first.name) };
  const content = layoutOf([listed], [index, ...parts.flatMap(({ blobs }) => blobs)], []);
  return { content, digest: `sha256:${index.sha256}` };
}

const INDEX = { schemaVersion: 2, mediaType: MEDIA_TYPES.index } as const;

function partsOf(image: Image) {
  const { architecture } = image;
  const layers = image.layers.map(({ blob }) => blob);
  const config = jsonBlob(configOf(image));
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: descriptor(MEDIA_TYPES.config, config),
    layers: layers.map((blob) => descriptor(MEDIA_TYPES.layer, blob)),
    annotations: annotationsOf(image),
  });
  const platform = { architecture, os: 'linux' };
  const described = { ...descriptor(MEDIA_TYPES.manifest, manifest), platform };
  return { manifest, config, layers, described, blobs: [config, manifest, ...layers] };
}

/** The name in full for containerd, and the tag for tools that copy a layout. */
function namesOf(name: string): Readonly<Record<string, string>> {
  return {
    'io.containerd.image.name': `${IMPLIED_REGISTRY}/${name}`,
    'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
  };
}

/** Architectures may share blobs. */
function layoutOf(
  manifests: readonly object[],
  blobs: readonly Blob[],
  more: readonly TarEntry[],
): Buffer {
  const distinct = new Map(blobs.map((blob) => [pathOf(blob), blob]));
  return tarOf([
    ...DIRECTORIES,
    file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    file('index.json', json({ ...INDEX, manifests })),
    ...more,
    ...[...distinct].map(([path, { content }]) => file(path, content)),
  ]);
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
