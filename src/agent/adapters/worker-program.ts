import { realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * Where `/` is the directory `root`, a program of a volume is found there through a symbolic link. All
 * other programs are the machine's, and stay as they are written, whatever lies in the directory.
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
