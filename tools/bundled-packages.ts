/**
 * The npm packages inside bundles, which npm does not install beside them. Their licences go where
 * the bundles go, and the bill of materials names them.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { BUNDLES } from './bundles.ts';

/** Inside all bundles of the npm package. As keys of `package-lock.json`: `node_modules/NAME`. */
export async function packagesInBundles(): Promise<readonly string[]> {
  const results = BUNDLES.map((bundle) => build({ ...bundle, write: false, metafile: true }));
  return packagesIn((await Promise.all(results)).map(({ metafile }) => metafile));
}

/** As keys of `package-lock.json`, each once. */
export function packagesIn(metafiles: readonly Metafile[]): readonly string[] {
  const paths = metafiles
    .flatMap(({ inputs }) => Object.keys(inputs))
    .flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);
  return [...new Set(paths)].toSorted();
}

/** The texts of their licences, one below the other. */
export async function licensesOf(packages: readonly string[]): Promise<string> {
  const texts = packages.map(async (path) => {
    const text = await readFile(join(ROOT, path, 'LICENSE'), 'utf8');
    return `${path.slice(path.lastIndexOf(MODULES) + MODULES.length)}\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(72)}\n\n`);
}

const MODULES = 'node_modules/';
const ROOT = join(import.meta.dirname, '..');
