/**
 * Builds the three bundles of the package, and the worker of the MNIST example, into `dist/`. The agent is one file without dependencies,
 * because it runs in every worker Pod; the operator and the command line leave their npm
 * dependencies to `node_modules`.
 */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';

const COMMON = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
  sourcemap: false,
} as const;

await rm('dist', { recursive: true, force: true });
await Promise.all([
  build({ ...COMMON, entryPoints: { agent: 'src/agent/main.ts' }, outdir: 'dist', minify: true }),
  build({
    ...COMMON,
    entryPoints: {
      operator: 'src/operator/main.ts',
      'review-thread': 'src/operator/review-thread/main.ts',
      cli: 'src/cli/main.ts',
      watchdog: 'src/cli/watchdog/main.ts',
      node: 'src/cluster/node-process/main.ts',
    },
    outdir: 'dist',
    packages: 'external',
  }),
  build({
    ...COMMON,
    entryPoints: { mnist: 'examples/mnist/worker.ts' },
    outdir: 'dist/examples',
    packages: 'external',
  }),
]);

// What containers of the embedded cluster find on their PATH.
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
