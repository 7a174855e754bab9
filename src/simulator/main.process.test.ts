import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('./main.ts', import.meta.url));
/** The first look at a clock, which no flag needs, throws. */
const BROKEN_CLOCK =
  'data:text/javascript,performance.now = () => { throw new Error("a broken clock"); };';

interface Ended {
  readonly code: unknown;
  readonly stderr: string;
}

/** Runs it with an error in what comes after the flags. */
function broken(...flags: readonly string[]): Promise<Ended> {
  const args = ['--import', 'tsx', '--import', BROKEN_CLOCK, PROGRAM, ...flags];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, _, stderr) => resolve({ code: error?.code, stderr }));
  });
}

it('does not call an error wrong usage that the flags have not caused', async () => {
  const { code, stderr } = await broken('--exhaustive', '--members', '1', '--faults-at-most', '0');
  expect(stderr).toMatch(/Error: a broken clock\n +at /);
  expect(stderr).not.toContain('npm run simulate --');
  expect(code).toBe(1);
});
