/** Finds the program of a supervised worker when `/` is another directory. */
import { realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * Resolves a program in a volume under `root`, the directory that stands for `/`, through symbolic
 * links. All other programs belong to the machine and stay as written, even if `root` has a file of
 * that name.
 */
export function workerProgram(root: string, program: string): string {
  if (root === '' || !isAbsolute(program)) return program;
  const path = join(root, program);
  const [real, realRoot] = [realPathOf(path), realPathOf(root)];
  const isMounted = real !== undefined && !real.startsWith(`${realRoot ?? root}/`);
  return isMounted ? path : program;
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
