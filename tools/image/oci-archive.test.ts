import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import {
  compressedLayer,
  type Image,
  imageArchive,
  indexArchive,
  machineArchitecture,
} from './oci-archive.ts';
import { readTar } from './tar.fixture.ts';
import type { TarEntry } from './tar.ts';

const BELOW: readonly TarEntry[] = [
  { kind: 'File', path: 'node', mode: 0o755, content: Buffer.from('binary') },
  { kind: 'Link', path: 'loader', target: 'node' },
];
const ABOVE: readonly TarEntry[] = [
  { kind: 'File', path: 'agent.js', mode: 0o644, content: Buffer.from('script') },
];

function image(...layers: readonly (readonly TarEntry[])[]): Image {
  return {
    name: 'lockstep/agent:1.2.3',
    version: '1.2.3',
    architecture: 'arm64',
    layers: layers.map((entries) => compressedLayer(entries, 1)),
    entrypoint: ['/node'],
    env: ['PATH=/'],
    user: '65532:65532',
  };
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

interface Index {
  readonly manifests: readonly (Descriptor & { readonly annotations: Record<string, string> })[];
}

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

it('is an OCI layout and an archive of Docker over the same blobs', () => {
  const { content, digest } = imageArchive(image(BELOW, ABOVE));
  const files = readTar(content);
  const json = <T>(path: string): T => JSON.parse(files.get(path)?.content.toString() ?? '') as T;
  const blob = ({ digest: of, size }: Descriptor): Buffer => {
    const bytes = files.get(`blobs/sha256/${of.replace('sha256:', '')}`)?.content;
    if (bytes === undefined) throw new Error(`no blob ${of}`);
    expect(`sha256:${sha256(bytes)}`).toBe(of);
    expect(bytes.length).toBe(size);
    return bytes;
  };

  expect(json('oci-layout')).toEqual({ imageLayoutVersion: '1.0.0' });
  const [listed] = json<Index>('index.json').manifests;
  if (listed === undefined) throw new Error('an empty index');
  expect(listed).toMatchObject({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest,
    platform: { os: 'linux', architecture: 'arm64' },
    annotations: { 'org.opencontainers.image.ref.name': '1.2.3' },
  });
  // A node looks for an image by its full name.
  expect(listed.annotations['io.containerd.image.name']).toMatch(
    /^[a-z.]+\/lockstep\/agent:1\.2\.3$/,
  );

  const manifest = JSON.parse(blob(listed).toString()) as Manifest;
  expect(manifest.config.mediaType).toBe('application/vnd.oci.image.config.v1+json');
  const layers = manifest.layers.map((layer) => {
    expect(layer.mediaType).toBe('application/vnd.oci.image.layer.v1.tar+gzip');
    return gunzipSync(blob(layer));
  });
  expect(layers.map((layer) => [...readTar(layer).keys()])).toEqual([
    ['loader', 'node'],
    ['agent.js'],
  ]);
  expect(JSON.parse(blob(manifest.config).toString())).toMatchObject({
    architecture: 'arm64',
    os: 'linux',
    config: { User: '65532:65532', Entrypoint: ['/node'], Env: ['PATH=/'] },
    rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
  });

  const path = (of: Descriptor): string => of.digest.replace('sha256:', 'blobs/sha256/');
  expect(json('manifest.json')).toEqual([
    {
      Config: path(manifest.config),
      RepoTags: ['lockstep/agent:1.2.3'],
      Layers: manifest.layers.map(path),
    },
  ]);
});

it('is the same for the same files, and another for others', () => {
  const first = imageArchive(image(BELOW, ABOVE));
  expect(imageArchive(image(BELOW.toReversed(), ABOVE)).content.equals(first.content)).toBe(true);
  expect(imageArchive(image(BELOW)).digest).not.toBe(first.digest);
});

it('is made for the machines that run Kubernetes', () => {
  expect(machineArchitecture('x64')).toBe('amd64');
  expect(machineArchitecture('arm64')).toBe('arm64');
  expect(() => machineArchitecture('ia32')).toThrow('not for ia32');
});

it('an index has an image for each architecture, and their shared blobs once', () => {
  const one = image(BELOW, ABOVE);
  const { content, digest } = indexArchive([{ ...one, architecture: 'amd64' }, one]);
  const files = readTar(content);
  const json = <T>(path: string): T => JSON.parse(files.get(path)?.content.toString() ?? '') as T;
  const [listed, ...others] = json<Index>('index.json').manifests;
  expect(others).toEqual([]);
  expect(listed).toMatchObject({
    mediaType: 'application/vnd.oci.image.index.v1+json',
    digest,
    annotations: { 'org.opencontainers.image.ref.name': '1.2.3' },
  });
  const blobOf = (of: string): string => `blobs/sha256/${of.replace('sha256:', '')}`;
  const { manifests } = json<Index>(blobOf(digest));
  expect(manifests).toMatchObject([
    { platform: { architecture: 'amd64', os: 'linux' } },
    { platform: { architecture: 'arm64', os: 'linux' } },
  ]);
  const layers = manifests.map((each) => json<Manifest>(blobOf(each.digest)).layers);
  expect(layers[0]).toEqual(layers[1]);
  // The index, two manifests, two configurations and two layers.
  const blobs = [...files.keys()].filter((path) => /^blobs\/sha256\/./.test(path));
  expect(blobs).toHaveLength(7);
});
