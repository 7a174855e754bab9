import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

const PACKAGE = join(import.meta.dirname, '../..');
const TIMEOUT_MS = 30_000;
const run = promisify(execFile);

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'readme-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('the example of the README runs in a directory that has only links to the packages', async () => {
  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8');
  const [, example = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  const packages = join(directory, 'node_modules/@lockstep');
  await mkdir(packages, { recursive: true });
  await symlink(PACKAGE, join(packages, 'embedded-kubernetes'));
  await symlink(join(PACKAGE, '../kube'), join(packages, 'kube'));
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  await writeFile(join(directory, 'example.test.ts'), example);
  const argv = ['--import', import.meta.resolve('tsx'), '--test', '--test-reporter=tap'];
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  const { stdout } = await run(process.execPath, [...argv, 'example.test.ts'], {
    cwd: directory,
    env,
    timeout: TIMEOUT_MS,
  });
  expect(stdout).toContain('# pass 1');
  expect(stdout).toContain('# fail 0');
});
