/** The bundles of the package: what esbuild makes of which entry point. */
import type { BuildOptions } from 'esbuild';
import packageJson from '../package.json' with { type: 'json' };

const COMMON = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
  sourcemap: false,
} as const satisfies BuildOptions;

/** npm installs them beside the bundles. The packages of this repository are inside. */
const DEPENDENCIES: string[] = Object.keys(packageJson.dependencies);

/** The agent is one file without dependencies, because it runs in every worker Pod. */
export const AGENT_BUNDLE = {
  ...COMMON,
  entryPoints: { agent: 'src/agent/main.ts' },
  outdir: 'dist',
  minify: true,
} as const satisfies BuildOptions;

/** The operator and the thread in which it judges reviews. npm's dependencies stay outside. */
export const OPERATOR_BUNDLES = {
  ...COMMON,
  entryPoints: {
    operator: 'src/operator/main.ts',
    'review-thread': 'src/operator/review-thread/main.ts',
  },
  outdir: 'dist',
  external: DEPENDENCIES,
} as const satisfies BuildOptions;

/**
 * The command line, with a file for what each command imports, so that a command loads no other. They
 * lie beside each other, because code finds other files of the package from its own.
 */
export const CLI_BUNDLE = {
  ...COMMON,
  entryPoints: { cli: 'src/cli/main.ts' },
  splitting: true,
  chunkNames: 'cli-[hash]',
  outdir: 'dist',
  external: DEPENDENCIES,
} as const satisfies BuildOptions;

/** The processes that the command line starts on the user's machine. */
export const LOCAL_BUNDLES = {
  ...COMMON,
  entryPoints: {
    watchdog: 'src/cli/watchdog/main.ts',
    node: 'packages/embedded-kubernetes/src/cluster/node-process/main.ts',
  },
  outdir: 'dist',
  external: DEPENDENCIES,
} as const satisfies BuildOptions;

/** The simulator, for `tools/simulate.ts`; the package does not have it. */
export const SIMULATOR_BUNDLE = {
  ...COMMON,
  entryPoints: { simulator: 'src/simulator/main.ts' },
  external: DEPENDENCIES,
} as const satisfies BuildOptions;

/** The worker of the MNIST example. */
export const EXAMPLE_BUNDLE = {
  ...COMMON,
  entryPoints: { mnist: 'examples/mnist/worker.ts' },
  outdir: 'dist/examples',
  external: DEPENDENCIES,
} as const satisfies BuildOptions;

/** The page of `lockstep dashboard`. All of it is here, because it may ask no other host. */
export const DASHBOARD_BUNDLE = {
  bundle: true,
  platform: 'browser',
  format: 'esm',
  target: ['chrome109', 'firefox115', 'safari16'],
  logLevel: 'warning',
  sourcemap: false,
  minify: true,
  legalComments: 'inline',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryPoints: {
    page: 'src/dashboard/page/main.tsx',
    style: 'src/dashboard/page/style.css',
    index: 'src/dashboard/page/index.html',
    icon: 'src/dashboard/page/icon.svg',
  },
  loader: { '.html': 'copy', '.svg': 'copy' },
  outdir: 'dist/dashboard',
} as const satisfies BuildOptions;

export const BUNDLES: readonly BuildOptions[] = [
  AGENT_BUNDLE,
  OPERATOR_BUNDLES,
  CLI_BUNDLE,
  LOCAL_BUNDLES,
  EXAMPLE_BUNDLE,
  DASHBOARD_BUNDLE,
];
