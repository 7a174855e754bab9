/** What the command tells of its errors, from its sources. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'lockstep-main-'));

afterAll(() => rmSync(directory, { recursive: true }));

function errorsOf(...args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', MAIN, ...args], (_error, _output, errors) =>
      resolve(errors),
    );
  });
}

test('what a file says reaches the terminal only as plain text', async () => {
  const path = join(directory, 'trace.jsonl');
  const version = { '\u009b31m\u202e\u001b[32m': 1 };
  writeFileSync(path, `${JSON.stringify({ kind: 'Trace', version })}\n`);
  expect(await errorsOf('dashboard', '--no-open', '--trace', path)).toBe(
    `lockstep: --trace "${path}": line 1: version: {"\\u009b31m\\u202e\\u001b[32m":1}, expected 1\n`,
  );
});
