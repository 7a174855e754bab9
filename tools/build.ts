/** Builds `dist/`: the bundles of the package, the MNIST example's worker, and the programs in `dist/bin`. */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { AGENT_BUNDLE, EXAMPLE_BUNDLE, LOCAL_BUNDLES, OPERATOR_BUNDLES } from './bundles.ts';

await rm('dist', { recursive: true, force: true });
await Promise.all(
  [AGENT_BUNDLE, OPERATOR_BUNDLES, LOCAL_BUNDLES, EXAMPLE_BUNDLE].map((bundle) => build(bundle)),
);

// The programs on the PATH of the embedded cluster's containers.
const PROGRAMS = {
  'lockstep-agent': '../agent.js',
  'lockstep-operator': '../operator.js',
  'lockstep-example-mnist': '../examples/mnist.js',
};
await mkdir('dist/bin');
for (const [name, target] of Object.entries(PROGRAMS)) {
  await writeFile(`dist/bin/${name}`, `#!/usr/bin/env node\nimport '${target}';\n`);
  await chmod(`dist/bin/${name}`, 0o755);
}
