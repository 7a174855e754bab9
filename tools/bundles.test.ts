/** What a command of `lockstep` loads before it does anything. */
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { expect, it } from 'vitest';
import { CLI_BUNDLE } from './bundles.ts';

/** All commands have two megabytes, for which Node needs half a second; shells ask at each press of a key. */
const MAX_BYTES = 400_000;

/** All files and packages that `path` imports, also through others, before its own code runs. */
function loadedBy(path: string, { outputs }: Metafile, known = new Set<string>()): Set<string> {
  if (known.has(path)) return known;
  known.add(path);
  for (const { kind, path: imported } of outputs[path]?.imports ?? []) {
    if (kind === 'import-statement') loadedBy(imported, { inputs: {}, outputs }, known);
  }
  return known;
}

it('a command loads no other command to show its help', async () => {
  const options: BuildOptions = { ...CLI_BUNDLE, write: false };
  const { metafile } = await build({ ...options, metafile: true });
  const loaded = [...loadedBy('dist/cli.js', metafile)];
  const packages = loaded.filter((one) => !one.startsWith('dist/') && !one.startsWith('node:'));
  expect(packages).toEqual(['commander']);
  const bytes = loaded.reduce((sum, one) => sum + (metafile.outputs[one]?.bytes ?? 0), 0);
  expect(bytes).toBeLessThan(MAX_BYTES);
});
