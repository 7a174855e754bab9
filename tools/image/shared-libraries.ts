/**
 * Finds what the dynamic loader of this machine would load for a program, so that an image can
 * contain it. `ldd` is the loader itself in a mode that lists these files.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ImageError } from './image-error.ts';

export interface SharedLibraries {
  /** The interpreter in the program's headers, an absolute path. */
  readonly loader: string;
  /** Absolute paths of the libraries, without the loader itself. */
  readonly libraries: readonly string[];
}

export function sharedLibraries(program: string): SharedLibraries {
  const { loader, libraries } = parseLdd(lddOf(program));
  const directory = dirname(libraries.find((path) => path.includes('libc.so')) ?? loader);
  const opened = OPENED_BY_NAME.map((name) => join(directory, name)).filter(existsSync);
  return { loader, libraries: [...new Set([...libraries, ...opened])].toSorted() };
}

function lddOf(program: string): string {
  try {
    return execFileSync('ldd', [program], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    throw new ImageError(`images are made on Linux, of a Node that ldd can read: ${why}`, {
      cause: error,
    });
  }
}

/** glibc opens these only when it looks a name up, so no header lists them. */
export const OPENED_BY_NAME = ['libnss_dns.so.2', 'libnss_files.so.2', 'libresolv.so.2'];

/** `text` is the output of `ldd`. Throws if a library is missing or nothing is loaded at all. */
export function parseLdd(text: string): SharedLibraries {
  const lines = text.split('\n').map((line) => line.trim().replace(/ \(0x[0-9a-f]+\)$/, ''));
  const missing = lines.find((line) => line.endsWith('=> not found'));
  if (missing !== undefined) throw new ImageError(`a shared library is not there: ${missing}`);
  const resolved = lines.flatMap((line) => {
    const [, name, path] = /^(\S+) => (\/\S+)$/.exec(line) ?? [];
    return name === undefined || path === undefined ? [] : [{ name, path }];
  });
  // The loader stands alone on its line, or an absolute name resolves to it.
  const loader =
    lines.find((line) => /^\/\S+$/.test(line)) ??
    resolved.find(({ name }) => name.startsWith('/'))?.name;
  if (loader === undefined) {
    throw new ImageError(`expected a program that is linked dynamically, ldd says: ${text.trim()}`);
  }
  // The loader of musl is its C library too.
  const isLibrary = ({ name, path }: { readonly name: string; readonly path: string }): boolean =>
    !name.startsWith('/') && path !== loader;
  return { loader, libraries: resolved.filter(isLibrary).map(({ path }) => path) };
}
