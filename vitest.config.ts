import { defineConfig } from 'vitest/config';

// Three projects, so that pure tests share one module graph and stay quick, while tests that own
// processes, ports and files each run in a process of their own.
const SUITE_TIMEOUT_MS = 60_000;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'tools/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: ['**/*.process.test.ts'],
          pool: 'threads',
          isolate: false,
        },
      },
      {
        test: {
          name: 'process',
          include: [
            '{src,examples}/**/*.process.test.ts',
            'test/{conformance,integration}/**/*.test.ts',
          ],
          pool: 'forks',
          testTimeout: SUITE_TIMEOUT_MS,
          hookTimeout: SUITE_TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 2 * SUITE_TIMEOUT_MS,
          hookTimeout: 2 * SUITE_TIMEOUT_MS,
        },
      },
    ],
  },
});
