/**
 * Writes the tables of built-in kinds from what one version of Kubernetes publishes:
 *
 *   tsx tools/kubernetes-kinds/main.ts [--version 1.36.3] [--out DIRECTORY]
 *
 * `DIRECTORY` is the root of a source tree, by default this one. Where Go is not installed nothing is
 * written, which is said. Exit code: 0, or 2 for wrong usage.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { KUBERNETES_VERSIONS } from '../control-plane/build.ts';
import { isGoInstalled } from '../go-module.ts';
import { generateKinds } from './generate.ts';

const EXIT_USAGE = 2;

process.exitCode = await main();

async function main(): Promise<number> {
  let options: { version: string; out: string };
  try {
    options = parse();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return EXIT_USAGE;
  }
  const { version, out } = options;
  if (!/^1\.\d+\.\d+$/.test(version)) {
    process.stderr.write(`--version: "${version}", expected 1.MINOR.PATCH\n`);
    return EXIT_USAGE;
  }
  if (!isGoInstalled()) {
    process.stderr.write('skipped: Go is not installed, which downloads the published documents\n');
    return 0;
  }
  for (const [path, text] of await generateKinds(version)) {
    const file = join(out, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stderr.write(`${file}\n`);
  }
  return 0;
}

/** @throws {TypeError} about an option that there is not. */
function parse(): { version: string; out: string } {
  return parseArgs({
    options: {
      version: { type: 'string', default: KUBERNETES_VERSIONS[0] },
      out: { type: 'string', default: join(import.meta.dirname, '../..') },
    },
  }).values;
}
