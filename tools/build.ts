/**
 * Builds `dist/`: the bundles of the package, the MNIST example's worker and samples, the licences of
 * what is in the page, the programs in `dist/bin`, and the Python package. Each file replaces its predecessor by a rename,
 * because npx builds before it runs a command of a checkout, and a cluster that runs already starts its
 * programs from `dist/`.
 */
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { licensesOf, packagesIn } from './bundled-packages.ts';
import {
  AGENT_BUNDLE,
  CLI_BUNDLE,
  DASHBOARD_BUNDLE,
  EXAMPLE_BUNDLE,
  LOCAL_BUNDLES,
  OPERATOR_BUNDLES,
} from './bundles.ts';
import { writeMnistSamples } from './mnist-samples.ts';
import { pythonWheel, WHEEL_FILE } from './python-package.ts';

const DIST = 'dist';
const fresh = `${DIST}.${process.pid}`;
/** A file that programs import, with a name for each content. */
const CHUNK = /^cli-[0-9A-Z]+\.js$/;

try {
  const page = { ...DASHBOARD_BUNDLE, metafile: true } as const;
  const [{ metafile }] = await Promise.all([
    build(below(page)),
    ...[AGENT_BUNDLE, OPERATOR_BUNDLES, CLI_BUNDLE, LOCAL_BUNDLES, EXAMPLE_BUNDLE].map((bundle) =>
      build(below(bundle)),
    ),
  ]);
  await writeFile(join(fresh, 'dashboard/LICENSES'), await licensesOf(packagesIn([metafile])));
  await writeMnistSamples(join(fresh, 'examples'));
  await writePrograms(join(fresh, 'bin'));
  await mkdir(join(fresh, 'python'));
  await writeFile(join(fresh, 'python', WHEEL_FILE), pythonWheel());
  await replaceFiles(fresh, DIST);
} finally {
  await rm(fresh, { recursive: true, force: true });
}

function below<Bundle extends { readonly outdir: string }>(bundle: Bundle): Bundle {
  return { ...bundle, outdir: bundle.outdir.replace(DIST, fresh) };
}

/** What containers of the embedded cluster find on their PATH. */
async function writePrograms(directory: string): Promise<void> {
  const programs = {
    'lockstep-agent': '../agent.js',
    'lockstep-operator': '../operator.js',
    'lockstep-example-mnist': '../examples/mnist.js',
  };
  await mkdir(directory);
  for (const [name, target] of Object.entries(programs)) {
    await writeFile(join(directory, name), `#!/usr/bin/env node\nimport '${target}';\n`);
    await chmod(join(directory, name), 0o755);
  }
}

/**
 * Moves all files of a directory over the files of another, and removes what only the other has. What
 * programs import comes before the programs, and goes after them, so that each finds its own.
 */
async function replaceFiles(from: string, to: string): Promise<void> {
  const files = await filesBelow(from);
  const chunks = files.filter((file) => CHUNK.test(file));
  for (const file of [...chunks, ...files.filter((one) => !CHUNK.test(one))]) {
    await mkdir(dirname(join(to, file)), { recursive: true });
    await rename(join(from, file), join(to, file));
  }
  for (const file of await filesBelow(to)) {
    if (!files.includes(file)) await rm(join(to, file), { force: true });
  }
}

async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}
