/**
 * The Python package: its own tests, and its wheel as pip installs it and as Python imports it without
 * an installation. They need a Python from 3.9 on the PATH.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { pythonSources, pythonWheel, SOURCE_ARCHIVE_FILE, WHEEL_FILE } from './python-package.ts';

const FOLDER = join(import.meta.dirname, '../python');
const TESTS = readdirSync(join(FOLDER, 'tests')).filter((name) => name.startsWith('test_'));
const MAX_LINES = 900;
/** Each test starts a Python or two. */
const LIMIT_MS = 120_000;

const PYTHON = 'python3';
const isThere = run('-c', 'import sys; sys.exit(sys.version_info < (3, 9))').status === 0;
const hasPip = isThere && run('-m', 'pip', '--version').status === 0;

function run(...args: readonly string[]) {
  return runProgram(PYTHON, args);
}

function runProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return spawnSync(program, args, {
    encoding: 'utf8',
    cwd: tmpdir(),
    timeout: LIMIT_MS,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
  });
}

let directory: string;
let wheel: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-python-'));
  wheel = join(directory, WHEEL_FILE);
  writeFileSync(wheel, pythonWheel());
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.skipIf(!isThere)('the Python package (skipped without a Python from 3.9)', () => {
  it.each(TESTS)('passes %s', { timeout: LIMIT_MS }, (name) => {
    const args = ['-m', 'unittest', 'discover', '--start-directory', join(FOLDER, 'tests')];
    const { status, stderr } = run(...args, '--pattern', name);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(stderr).toMatch(/Ran [1-9]\d* tests?/);
  });

  it('is imported from its wheel without an installation', () => {
    const program = 'import lockstep.hang; print(lockstep.__file__)';
    const { stdout, stderr } = runProgram(PYTHON, ['-c', program], { PYTHONPATH: wheel });
    expect({ stdout, stderr }).toEqual({ stdout: `${wheel}/lockstep/__init__.py\n`, stderr: '' });
  });

  it.skipIf(!hasPip)('is installed by pip, which needs no network for it', () => {
    const target = join(directory, 'installed');
    const pip = ['-m', 'pip', '--disable-pip-version-check', 'install', '--no-index'];
    expect(run(...pip, '--target', target, wheel)).toMatchObject({ status: 0 });
    const about = "import importlib.metadata as m; d = m.distribution('lockstep-worker')";
    const program = `${about}; print(d.version, d.requires, d.read_text('METADATA').count('>=3.9'))`;
    const installed = runProgram(PYTHON, ['-c', program], { PYTHONPATH: target });
    expect(installed.stdout).toBe(`${packageJson.version} None 1\n`);
    const hang = runProgram(PYTHON, ['-m', 'lockstep.hang'], { PYTHONPATH: target });
    expect(hang).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('the Python package', () => {
  it('has the same wheel whenever it is made', () => {
    expect(pythonWheel().equals(readFileSync(wheel))).toBe(true);
  });

  it('has an archive of all that builds it', () => {
    const archive = gunzipSync(pythonSources(1)).toString('latin1');
    const root = SOURCE_ARCHIVE_FILE.replace('.tar.gz', '');
    for (const path of ['PKG-INFO', 'pyproject.toml', 'README.md', 'src/lockstep/py.typed']) {
      expect(archive).toContain(`${root}/${path}\0`);
    }
  });

  it(`has fewer than ${MAX_LINES} lines`, () => {
    const sources = join(FOLDER, 'src/lockstep');
    const lines = readdirSync(sources)
      .filter((name) => name.endsWith('.py'))
      .map((name) => readFileSync(join(sources, name), 'utf8').split('\n').length - 1);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThan(MAX_LINES);
  });
});
