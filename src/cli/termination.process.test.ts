import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const LARGE = fileURLToPath(new URL('../../examples/policies/elastic.yaml', import.meta.url));

/** Runs the command from its sources; resolves with its exit code and its error output. */
function run(output: 'closed' | number, ...args: readonly string[]): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], {
      stdio: ['ignore', output === 'closed' ? 'pipe' : output, 'pipe'],
    });
    let errors = '';
    child.stdout?.destroy();
    child.stderr?.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => resolve([code ?? -1, errors]));
  });
}

test.each([
  ['its output', ['render', LARGE]],
  ['its help', ['--help']],
])('a reader that has had enough of %s ends the command without a word', async (_of, args) => {
  expect(await run('closed', ...args)).toEqual([0, '']);
});

test.runIf(process.platform === 'linux')('a full disk is reported in one line', async () => {
  const full = openSync('/dev/full', 'w');
  const [code, errors] = await run(full, 'render', LARGE);
  closeSync(full);
  expect(code).toBe(1);
  expect(errors).toMatch(/^lockstep: standard output: ENOSPC: .*\n$/);
});
