/** The images of the tests, and Lockstep's own, as archives for the container runtime. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathOf } from '../debian-packages.ts';
import { writeArchives } from '../image/archives.ts';
import { compressedLayer, imageArchive, machineArchitecture } from '../image/oci-archive.ts';
import type { TarEntry } from '../image/tar.ts';
import { type NodePrograms, pathIn } from './programs.ts';

/** The sandbox of each Pod. */
export const PAUSE_IMAGE = 'lockstep-test/pause:1';

/** Speed counts more than size. */
const COMPRESSION_LEVEL = 1;
/** Root, which a Pod may change. */
const USER = '0:0';

/** Writes them and returns their paths. */
export async function writeNodeImages(
  directory: string,
  programs: NodePrograms,
): Promise<readonly string[]> {
  mkdirSync(directory, { recursive: true });
  const worker = readFileSync(pathIn(programs, 'worker'));
  const busybox = pathOf('busybox') ?? '';
  const applets = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  const images = [
    write(directory, PAUSE_IMAGE, [program('pause', worker)], ['/pause']),
    // As small as an image gets: a static program as the entry point, no shell, no library.
    write(directory, 'lockstep-test/worker:1', [program('worker', worker)], ['/worker']),
    write(directory, 'lockstep-test/busybox:1', [
      { kind: 'Directory', path: 'bin', mode: 0o755 },
      { kind: 'Directory', path: 'tmp', mode: 0o1777 },
      program('bin/busybox', readFileSync(busybox)),
      ...applets
        .filter((name) => name !== 'busybox')
        .map((name): TarEntry => ({ kind: 'Link', path: `bin/${name}`, target: 'busybox' })),
    ]),
  ];
  const own = await writeArchives(directory, COMPRESSION_LEVEL);
  return [...images, ...own.map(({ path }) => path)];
}

function program(path: string, content: Buffer): TarEntry {
  return { kind: 'File', path, mode: 0o755, content };
}

function write(
  directory: string,
  name: string,
  files: readonly TarEntry[],
  entrypoint: readonly string[] = [],
): string {
  const { content } = imageArchive({
    name,
    version: '1',
    architecture: machineArchitecture(),
    layers: [compressedLayer(files, COMPRESSION_LEVEL)],
    entrypoint,
    env: ['PATH=/bin'],
    user: USER,
  });
  const path = join(directory, `${name.replace(/[/:]/g, '-')}.tar`);
  writeFileSync(path, content);
  return path;
}
