/** Writes the images as archive files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { ImageError } from './image-error.ts';
import { type ImageName, type ImageSource, imageSources, imagesOf } from './images.ts';
import { imageArchive, machineArchitecture } from './oci-archive.ts';
import type { TarEntry } from './tar.ts';

export interface WrittenArchive {
  readonly name: ImageName;
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

/** Writes `lockstep-NAME-VERSION-ARCHITECTURE.tar` for each image. */
export async function writeArchives(
  directory: string,
  level: number = COMPRESSION_LEVEL,
): Promise<readonly WrittenArchive[]> {
  mkdirSync(directory, { recursive: true });
  const suffix = `${packageJson.version}-${machineArchitecture()}.tar`;
  const sources = await imageSources();
  const images = imagesOf(sources, level);
  return sources.flatMap(({ name, reference, layers }, index) => {
    const image = images[index];
    if (image === undefined) return [];
    const contentBytes = sizeOf(layers.flat());
    expectWithinLimit(name, contentBytes);
    const { content, digest } = imageArchive(image);
    const path = join(directory, `lockstep-${name}-${suffix}`);
    writeFileSync(path, content);
    return [{ name, reference, path, layers, digest, archiveBytes: content.length, contentBytes }];
  });
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
