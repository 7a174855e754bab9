/** The images of the tests, and Lockstep's own, as archives for the container runtime. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathOf } from '../debian-packages.ts';
import { writeArchives } from '../image/archives.ts';
import { parentsOf } from '../image/node-runtime.ts';
import { compressedLayer, imageArchive, machineArchitecture } from '../image/oci-archive.ts';
import { sharedLibraries } from '../image/shared-libraries.ts';
import type { TarEntry } from '../image/tar.ts';
import { type NodePrograms, pathIn } from './programs.ts';

/** The sandbox of each Pod. */
export const PAUSE_IMAGE = 'lockstep-test/pause:1';
export const UPSTREAM_AGENT_IMAGE = 'lockstep-test/upstream-agent:1';

/** Speed counts more than size. */
const COMPRESSION_LEVEL = 1;
/** Root, which a Pod may change. */
const USER = '0:0';

/**
 * Writes them and returns their paths. `upstreamAgent`: the path of upstream's agent, for an image as its
 * own Dockerfile makes it.
 */
export async function writeNodeImages(
  directory: string,
  programs: NodePrograms,
  upstreamAgent?: string,
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
    ...(upstreamAgent === undefined ? [] : [upstreamImage(directory, upstreamAgent)]),
  ];
  const own = await writeArchives(directory, COMPRESSION_LEVEL);
  return [...images, ...own.map(({ path }) => path)];
}

/** The program with the libraries of this machine, as it was built here. */
function upstreamImage(directory: string, path: string): string {
  const { loader, libraries } = sharedLibraries(path);
  const files = [loader, ...libraries].map((file) => program(file.slice(1), readFileSync(file)));
  const agent = program('in-place-restart-agent', readFileSync(path));
  return write(
    directory,
    UPSTREAM_AGENT_IMAGE,
    [agent, ...parentsOf(files), ...files],
    ['/in-place-restart-agent'],
  );
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
