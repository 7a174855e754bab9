/**
 * Builds the three bundles of the package into `dist/`. The agent is one file without dependencies,
 * because it runs in every worker Pod; the operator and the command line leave their npm
 * dependencies to `node_modules`.
 */
import { rm } from 'node:fs/promises';
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
    entryPoints: { operator: 'src/operator/main.ts', cli: 'src/cli/main.ts' },
    outdir: 'dist',
    packages: 'external',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
  }),
]);
