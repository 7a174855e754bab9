/** Writes the images as archive files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { ImageError } from './image-error.ts';
import { type ImageName, type ImageSource, imageSources, imagesOf } from './images.ts';
import {
  type Architecture,
  type Image,
  imageArchive,
  indexArchive,
  machineArchitecture,
} from './oci-archive.ts';
import type { TarEntry } from './tar.ts';

export interface WrittenArchive {
  readonly name: ImageName;
  readonly architecture: Architecture;
  /** `REPOSITORY:TAG` */
  readonly reference: string;
  readonly path: string;
  /** The sources of its layers. */
  readonly layers: ImageSource['layers'];
  readonly digest: string;
  readonly archiveBytes: number;
  /** The size of the files that a container sees. */
  readonly contentBytes: number;
}

/**
 * Writes `lockstep-NAME-VERSION-ARCHITECTURE.tar` for each image and architecture. For several
 * architectures, `lockstep-NAME-VERSION.oci.tar` has all of an image under one index.
 */
export async function writeArchives(
  directory: string,
  level: number = COMPRESSION_LEVEL,
  architectures: readonly Architecture[] = [machineArchitecture()],
): Promise<readonly WrittenArchive[]> {
  mkdirSync(directory, { recursive: true });
  const written: WrittenArchive[] = [];
  const images = new Map<ImageName, Image[]>();
  for (const architecture of architectures) {
    const sources = await imageSources(architecture);
    for (const [index, image] of imagesOf(sources, level, architecture).entries()) {
      const source = sources[index];
      if (source === undefined) continue;
      const { name } = source;
      written.push(writeArchive(directory, source, image));
      images.set(name, [...(images.get(name) ?? []), image]);
    }
  }
  if (architectures.length < 2) return written;
  for (const [name, all] of images) {
    const path = join(directory, `lockstep-${name}-${packageJson.version}.oci.tar`);
    writeFileSync(path, indexArchive(all).content);
  }
  return written;
}

function writeArchive(
  directory: string,
  { name, reference, layers }: ImageSource,
  image: Image,
): WrittenArchive {
  const { architecture } = image;
  const contentBytes = sizeOf(layers.flat());
  expectWithinLimit(name, contentBytes);
  const { content, digest } = imageArchive(image);
  const path = join(directory, `lockstep-${name}-${packageJson.version}-${architecture}.tar`);
  writeFileSync(path, content);
  const archiveBytes = content.length;
  return { name, architecture, reference, path, layers, digest, archiveBytes, contentBytes };
}

function sizeOf(entries: readonly TarEntry[]): number {
  return entries.reduce(
    (sum, entry) => sum + (entry.kind === 'File' ? entry.content.length : 0),
    0,
  );
}

/** The highest level takes three times as long for 1 % less. */
export const COMPRESSION_LEVEL = 6;
/** Every node holds one and, as a copy, every supervised worker's Pod. */
const MAX_CONTENT_BYTES = 130_000_000;

function expectWithinLimit(name: ImageName, bytes: number): void {
  if (bytes <= MAX_CONTENT_BYTES) return;
  throw new ImageError(
    `the image of the ${name} holds ${bytes} bytes, expected at most ${MAX_CONTENT_BYTES}: is \`strip\` installed?`,
  );
}
