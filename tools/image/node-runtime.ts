/**
 * The files that Node needs in an otherwise empty image: its binary, the loader and the shared
 * libraries, all below `/lockstep`. From there they also run in a user's image, through their own
 * loader. Links at the places where the kernel and the loader look let Node start like any program
 * in our own images.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { AGENT_LOADER, AGENT_NODE, AGENT_TREE } from '../../src/jobset/injection/agent-tree.ts';
import { withDebianLibraries } from './debian-libraries.ts';
import { withoutSections } from './elf.ts';
import { type Architecture, machineArchitecture } from './oci-archive.ts';
import { type SharedLibraries, sharedLibraries } from './shared-libraries.ts';
import type { TarEntry } from './tar.ts';

/** The user of an image, which owns no files. */
export const USER_ID = 65_532;

const PROGRAM_MODE = 0o755;
const FILE_MODE = 0o644;
const STICKY_MODE = 0o1777;

/** `node`: the path of the binary, which is one for that architecture. */
export function nodeRuntime(node: string, architecture: Architecture): readonly TarEntry[] {
  if (architecture === machineArchitecture()) {
    return runtimeOf(withoutSymbols(node), sharedLibraries(node), '/');
  }
  const program = readFileSync(node);
  return withDebianLibraries(program, architecture, (found, root) =>
    runtimeOf(withoutSections(program), found, root),
  );
}

/** `root`: the directory below which the libraries lie here. */
function runtimeOf(
  program: Buffer,
  { loader, libraries }: SharedLibraries,
  root: string,
): readonly TarEntry[] {
  const own = (path: string): string => `${AGENT_TREE.libraries}/${basename(path)}`;
  const files: readonly TarEntry[] = [
    file(AGENT_NODE, program, PROGRAM_MODE),
    ...libraries.map((path) => file(own(path), readFileSync(join(root, path)), FILE_MODE)),
    file(own(loader), readFileSync(join(root, loader)), PROGRAM_MODE),
    { kind: 'Link', path: AGENT_LOADER, target: basename(loader) },
    ...[loader, ...libraries].map((path) => link(path, own(path))),
    ...Object.entries(SYSTEM_FILES).map(([path, text]) => file(path, Buffer.from(text), FILE_MODE)),
  ];
  return [...parentsOf(files), ...files, { kind: 'Directory', path: 'tmp', mode: STICKY_MODE }];
}

/** The directories in which the entries lie. */
export function parentsOf(entries: readonly TarEntry[]): readonly TarEntry[] {
  const paths = new Set<string>();
  for (const { path } of entries) {
    for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) paths.add(parent);
  }
  return [...paths].map((path) => ({ kind: 'Directory', path, mode: PROGRAM_MODE }));
}

/** The names of users, and the rule that `/etc/hosts` comes before DNS. */
const SYSTEM_FILES: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/:/none\nlockstep:x:${USER_ID}:${USER_ID}:lockstep:/:/none\n`,
  'etc/group': `root:x:0:\nlockstep:x:${USER_ID}:\n`,
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

function file(path: string, content: Buffer, mode: number): TarEntry {
  return { kind: 'File', path, mode, content };
}

/** `path` as an absolute link to a file of the tree. */
function link(path: string, target: string): TarEntry {
  return { kind: 'Link', path: path.replace(/^\/+/, ''), target: `/${target}` };
}

/** The binary without its symbols if `strip` is installed, otherwise as it is. */
function withoutSymbols(program: string): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-strip-'));
  const stripped = join(directory, 'program');
  try {
    execFileSync('strip', ['--strip-all', '-o', stripped, program], { stdio: 'pipe' });
    return readFileSync(stripped);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return readFileSync(program);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
