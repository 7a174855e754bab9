/**
 * Programs that are built from published Go modules. That takes minutes once; the result is kept by
 * version in the user's cache.
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectory } from './cache-directory.ts';
import { downloadGoModule, go } from './go-module.ts';

export interface GoProgram {
  readonly name: string;
  /** As Go writes it, such as `v1.36.3`. */
  readonly version: string;
  /** A source file of ours, or the import path of a published program. */
  readonly main: { readonly file: string } | { readonly package: string };
  /** Values of Go variables by name, which its releases set too. */
  readonly variables: Readonly<Record<string, string>>;
  /** Parts that its sources let one choose. */
  readonly tags?: readonly string[];
  /** Whether it may use libraries of C: as Go decides by default, not at all, or linked statically. */
  readonly cgo?: 'Off' | 'Static';
  /** The text of the module file to build it with. */
  moduleFile(): Promise<string>;
  /** A folder of files to keep beside the program, as `manifests`. */
  manifests?(): Promise<string>;
}

/** The directory of the program, built or not; each source has its own. */
function programDirectory({ name, version, main }: GoProgram): string {
  const source = 'file' in main ? readFileSync(main.file) : main.package;
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 8);
  return join(cacheDirectory(), `${name}-${version}-${hash}`);
}

/** Whether nothing is left to build, so that neither Go nor the network is needed. */
export function isProgramBuilt(program: GoProgram): boolean {
  return existsSync(join(programDirectory(program), program.name));
}

/** The directory that holds the program, which is built if it is missing. */
export async function buildProgram(
  program: GoProgram,
  report: (message: string) => void,
): Promise<string> {
  const { name, version, main, variables, tags = [], cgo } = program;
  const target = programDirectory(program);
  if (isProgramBuilt(program)) return target;
  const cache = dirname(target);
  report(`building ${name} ${version}; this takes some minutes, once`);
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'build-'));
  try {
    if ('file' in main) copyFileSync(main.file, join(directory, 'main.go'));
    writeFileSync(join(directory, 'go.mod'), await program.moduleFile());
    const settings = Object.entries(variables).map(([key, value]) => `-X ${key}=${value}`);
    // Without symbols, which nobody reads.
    const flags = ['-s', '-w', ...(cgo === 'Static' ? ['-extldflags -static'] : []), ...settings];
    const built = 'file' in main ? '.' : main.package;
    const args = ['-tags', tags.join(','), '-ldflags', flags.join(' '), '-o', name, built];
    await go(directory, ['build', ...args], cgo === undefined ? {} : CGO[cgo]);
    const manifests = await program.manifests?.();
    // Sources of modules are read-only, and a cache has to be removable.
    if (manifests !== undefined) copyWritable(manifests, join(directory, 'manifests'));
    // The rename makes it complete or absent; another build may have been quicker.
    if (!existsSync(target)) renameSync(directory, target);
    return target;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const CGO = { Off: { CGO_ENABLED: '0' }, Static: { CGO_ENABLED: '1' } } as const;

function copyWritable(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (entry.isDirectory()) copyWritable(source, join(to, entry.name));
    else writeFileSync(join(to, entry.name), readFileSync(source));
  }
}

/** A module file that requires one module, in the language of that; `more` are lines of it. */
export async function moduleFileFor(
  name: string,
  version: string,
  more: (text: string) => readonly string[] = () => [],
): Promise<string> {
  const { GoMod } = await downloadGoModule(name, version);
  const text = readFileSync(GoMod, 'utf8');
  const language = /^go .*$/m.exec(text)?.[0] ?? '';
  return ['module program', language, `require ${name} ${version}`, ...more(text), ''].join('\n');
}
