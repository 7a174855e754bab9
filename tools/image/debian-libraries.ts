/**
 * The libraries of Node for an architecture that is not this machine's, from Debian's packages: apt
 * knows where they are, checks their signatures, and needs no root with directories of its own.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interpreterOf, neededBy } from './elf.ts';
import { ImageError } from './image-error.ts';
import type { Architecture } from './oci-archive.ts';
import { OPENED_BY_NAME, type SharedLibraries } from './shared-libraries.ts';

const PACKAGES = ['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1'];
const TIMEOUT_MS = 300_000;

const LIBRARY_DIRECTORIES = ['lib', 'usr/lib'];

/**
 * What the loader of that architecture would load for the program. The files come from packages,
 * below the directory that `use` may read from; it is removed afterwards.
 */
export function withDebianLibraries<T>(
  program: Buffer,
  architecture: Architecture,
  use: (found: SharedLibraries, root: string) => T,
): T {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-debian-'));
  try {
    const root = join(directory, 'root');
    unpackPackages(directory, root, architecture);
    return use(librariesIn(root, program), root);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function unpackPackages(directory: string, root: string, architecture: Architecture): void {
  const packages = join(directory, 'packages');
  for (const path of ['state/lists/partial', 'cache/archives/partial', 'packages', 'root']) {
    mkdirSync(join(directory, path), { recursive: true });
  }
  writeFileSync(join(directory, 'state/status'), '');
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
    'Dir::State': join(directory, 'state'),
    'Dir::State::status': join(directory, 'state/status'),
    'Dir::Cache': join(directory, 'cache'),
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  run('apt-get', [...options, '--quiet=2', '--error-on=any', 'update'], packages);
  run('apt-get', [...options, '--quiet=2', 'download', ...PACKAGES], packages);
  for (const name of readdirSync(packages)) run('dpkg-deb', ['--extract', name, root], packages);
}

function run(program: string, args: readonly string[], cwd: string): void {
  try {
    execFileSync(program, args, { cwd, stdio: 'pipe', timeout: TIMEOUT_MS });
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    throw new ImageError(
      `images for another architecture are made where apt has Debian's packages for it: ${why}`,
      { cause: error },
    );
  }
}

/** Paths in an image, as `ldd` would name them. */
export function librariesIn(root: string, program: Buffer): SharedLibraries {
  const loader = interpreterOf(program);
  if (loader === undefined || !existsSync(join(root, loader))) {
    throw new ImageError(`the packages have no loader ${loader ?? 'of that program'}`);
  }
  const places = LIBRARY_DIRECTORIES.flatMap((directory) => directoriesBelow(root, directory));
  const found = new Map<string, string>();
  const pending = [...neededBy(program), ...OPENED_BY_NAME];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name) || loader.endsWith(`/${name}`)) continue;
    const wanted = name;
    const path = places
      .map((place) => `${place}/${wanted}`)
      .find((at) => existsSync(join(root, at)));
    if (path === undefined) throw new ImageError(`the packages have no library ${wanted}`);
    found.set(wanted, path);
    pending.push(...neededBy(readFileSync(join(root, path))));
  }
  return { loader, libraries: [...found.values()].toSorted() };
}

/** Debian has one directory for each architecture: `/lib/aarch64-linux-gnu`. */
function directoriesBelow(root: string, directory: string): readonly string[] {
  if (!existsSync(join(root, directory))) return [];
  return readdirSync(join(root, directory))
    .filter((name) => name.endsWith('-linux-gnu'))
    .map((name) => `/${directory}/${name}`);
}
