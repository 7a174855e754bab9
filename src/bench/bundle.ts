import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles a program of ours, as the agent is: translating it at run time would take CPU. */
export async function bundle(program: URL, directory: string): Promise<string> {
  const outfile = join(directory, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(program)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
  });
  return outfile;
}
