import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import {
  EMBEDDED_ONLY,
  KUBERNETES,
  KUBERNETES_COUNT,
  NODE_RUN,
  NOT_ON_NODES,
} from './test/kubernetes.ts';

// Three projects, so that pure tests share one module graph and stay quick, while tests that own
// processes, ports and files each run in a process of their own. A fourth one where there is a real
// Kubernetes: all suites that are written against a kubeconfig, one at a time for each that there is.
// And four more: where `npm run test:frameworks` has installed frameworks, `npm run test:browser` a browser,
// `npm run test:neighbours` has built controllers of other projects, and where `npm run test:node` runs a node.
const SUITE_TIMEOUT_MS = 60_000;
/**
 * They wait for nothing: it ends what hangs, and no property that a busy machine only slows down. A bundle of
 * all commands, which takes seconds, has taken a minute beside other suites.
 */
const UNIT_TIMEOUT_MS = 240_000;
/**
 * Suites with real processes share a machine with whatever else runs there. One that fails gets a second try, and
 * the output names it as retried. Unit tests get none: they depend on nothing outside.
 */
const PROCESS_RETRIES = 1;
/** Many suites wait for processes most of the time. With two more of them than cores, no core is idle. */
const MAX_WORKERS = availableParallelism() + 2;

const kubernetes = {
  test: {
    name: 'kubernetes',
    include: [
      'test/{e2e,integration}/**/*.test.ts',
      'test/conformance/{api-server,job-controller}.test.ts',
    ],
    exclude: Object.keys(EMBEDDED_ONLY).map((suite) => `test/${suite}`),
    setupFiles: ['test/listeners-setup.ts', 'test/kubernetes-setup.ts'],
    pool: 'forks',
    retry: PROCESS_RETRIES,
    maxWorkers: KUBERNETES_COUNT,
    // The demo took 200 s there beside training runs of frameworks.
    testTimeout: 8 * SUITE_TIMEOUT_MS,
    hookTimeout: 4 * SUITE_TIMEOUT_MS,
  },
} satisfies TestProjectConfiguration;

const frameworks = {
  test: {
    name: 'frameworks',
    include: ['test/frameworks/**/*.test.ts'],
    pool: 'forks',
    retry: PROCESS_RETRIES,
    // One after the other, because one of them measures.
    maxWorkers: 1,
    testTimeout: 4 * SUITE_TIMEOUT_MS,
    hookTimeout: 2 * SUITE_TIMEOUT_MS,
  },
} satisfies TestProjectConfiguration;

const neighbours = {
  test: {
    name: 'neighbours',
    include: ['test/neighbours/**/*.test.ts'],
    setupFiles: ['test/listeners-setup.ts', 'test/kubernetes-setup.ts'],
    pool: 'forks',
    retry: PROCESS_RETRIES,
    // One cluster stays for the suite that needs two.
    maxWorkers: Math.max(1, KUBERNETES_COUNT - 1),
    testTimeout: 4 * SUITE_TIMEOUT_MS,
    hookTimeout: 4 * SUITE_TIMEOUT_MS,
  },
} satisfies TestProjectConfiguration;

const browser = {
  test: {
    name: 'browser',
    include: ['test/browser/**/*.test.ts'],
    setupFiles: ['test/listeners-setup.ts'],
    pool: 'forks',
    retry: PROCESS_RETRIES,
    maxWorkers: 1,
    testTimeout: 2 * SUITE_TIMEOUT_MS,
    hookTimeout: 2 * SUITE_TIMEOUT_MS,
  },
} satisfies TestProjectConfiguration;

const node = {
  test: {
    name: 'node',
    include: ['test/node/**/*.test.ts', 'test/e2e/**/*.test.ts'],
    exclude: Object.keys(NOT_ON_NODES).map((suite) => `test/e2e/${suite}`),
    globalSetup: ['test/node/setup.ts'],
    pool: 'forks',
    retry: PROCESS_RETRIES,
    maxWorkers: 1,
    testTimeout: 5 * SUITE_TIMEOUT_MS,
    hookTimeout: 4 * SUITE_TIMEOUT_MS,
  },
} satisfies TestProjectConfiguration;

export default defineConfig({
  test: {
    maxWorkers: MAX_WORKERS,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{src,packages/*/src}/**/*.test.{ts,tsx}', '{tools,examples}/**/*.test.ts'],
          exclude: ['**/*.process.test.ts'],
          setupFiles: ['test/listeners-setup.ts'],
          pool: 'threads',
          isolate: false,
          testTimeout: UNIT_TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'process',
          include: [
            '{src,packages/*/src,examples,tools}/**/*.process.test.ts',
            'test/{conformance,integration}/**/*.test.ts',
          ],
          setupFiles: ['test/listeners-setup.ts'],
          pool: 'forks',
          retry: PROCESS_RETRIES,
          testTimeout: 2 * SUITE_TIMEOUT_MS,
          hookTimeout: 2 * SUITE_TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          pool: 'forks',
          retry: PROCESS_RETRIES,
          testTimeout: 4 * SUITE_TIMEOUT_MS,
          hookTimeout: 2 * SUITE_TIMEOUT_MS,
        },
      },
      ...(KUBERNETES === undefined || NODE_RUN !== undefined ? [] : [kubernetes]),
      ...('LOCKSTEP_TEST_FRAMEWORK_REPEATS' in process.env ? [frameworks] : []),
      ...('LOCKSTEP_TEST_NEIGHBOURS' in process.env ? [neighbours] : []),
      ...('LOCKSTEP_TEST_CHROMIUM' in process.env ? [browser] : []),
      ...(NODE_RUN === undefined ? [] : [node]),
    ],
  },
});
