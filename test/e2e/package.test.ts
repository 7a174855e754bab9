/** The npm package as its users get it: what is in it, how large it is, and that it runs alone. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { DemoReport } from '../../src/cli/demo/report.ts';
import { allPages, ROOT } from '../../tools/documentation/page.ts';
import { WHEEL_FILE } from '../../tools/python-package.ts';
import { WHERE } from './local-cluster.fixture.ts';

const MAX_PACKED_BYTES = 6_000_000;
const MAX_UNPACKED_BYTES = 18_000_000;
const PREPARATION_MS = 120_000;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let directory: string;
let packed: Packed;
let paths: readonly string[];
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-package-'));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory];
  const [first] = JSON.parse(
    execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as readonly Packed[];
  if (first === undefined) throw new Error('npm pack made nothing');
  packed = first;
  paths = packed.files.map(({ path }) => path);
}, PREPARATION_MS);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the npm package', () => {
  it('has the programs, the page, the samples with their licences, and the Python package', () => {
    const expected = [
      ...Object.values(packageJson.bin),
      ...['agent', 'cli', 'node', 'operator', 'review-thread', 'watchdog'].map(
        (name) => `dist/${name}.js`,
      ),
      'dist/bin/lockstep-example-mnist',
      ...['mnist.js', 'mnist-train', 'mnist-test', 'mnist-LICENSE'].map(
        (name) => `dist/examples/${name}`,
      ),
      'dist/dashboard/page.js',
      'dist/dashboard/LICENSES',
      `dist/python/${WHEEL_FILE}`,
      'examples/mnist/jobset.yaml',
      'LICENSE',
    ];
    expect(expected.filter((path) => !paths.includes(path))).toEqual([]);
    const licenses = readFileSync(join(ROOT, 'dist/dashboard/LICENSES'), 'utf8');
    for (const name of ['preact', 'uplot']) expect(licenses).toContain(`${name}\n\n`);
  });

  it('has all pages that its programs and its README cite', () => {
    const programs = paths.filter((path) => /^dist\/cli.*\.js$/.test(path));
    const cited = [...programs, 'README.md'].flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(String),
    );
    expect(cited).toContain('docs/reference/in-place-restart.md');
    const pages = allPages().filter(({ path }) => path.startsWith('docs/'));
    expect(pages.length).toBeGreaterThan(20);
    const needed = [...cited, ...pages.map(({ path }) => path)];
    expect(needed.filter((path) => !paths.includes(path))).toEqual([]);
  });

  it('has neither sources, nor tests, nor pictures', () => {
    const unwanted = /^(?:src|test|tools|deploy|node_modules)\/|\.test\.ts$|\.png$/;
    expect(paths.filter((path) => unwanted.test(path))).toEqual([]);
  });

  it('stays small, with what npm installs beside it', () => {
    expect(packed.size).toBeLessThan(MAX_PACKED_BYTES);
    expect(packed.unpackedSize).toBeLessThan(MAX_UNPACKED_BYTES);
    const installed = execFileSync('du', ['--bytes', '--total', '--summarize', ...dependencies()], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(Number.parseInt(/(\d+)\ttotal/.exec(installed)?.[1] ?? '', 10)).toBeLessThan(
      MAX_UNPACKED_BYTES,
    );
  });
});

/** Paths of the packages that npm installs for a user. */
function dependencies(): readonly string[] {
  const lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  return Object.entries(lockfile.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path]) => path);
}

describe('an installed package', () => {
  const modules = (): string => join(directory, 'project/node_modules');
  beforeAll(() => {
    const home = join(modules(), 'lockstep');
    mkdirSync(home, { recursive: true });
    const archive = join(directory, packed.filename);
    execFileSync('tar', ['-xzf', archive, '--strip-components=1', '-C', home]);
    for (const path of dependencies()) {
      cpSync(join(ROOT, path), join(directory, 'project', path), { recursive: true });
    }
  });

  it('trains the demo in an empty directory', async () => {
    const empty = join(directory, 'empty');
    mkdirSync(empty);
    const program = join(modules(), 'lockstep/bin/lockstep.js');
    const child = spawn(
      process.execPath,
      [program, 'demo', ...WHERE, '--workers', '2', '--kill', 'none', '--json'],
      { cwd: empty, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect((JSON.parse(stdout) as DemoReport).accuracy).toBeGreaterThan(0.95);
    expect(readdirSync(empty)).toEqual([]);
  });

  it('has the pages that the doctor names where the doctor is', () => {
    expect(existsSync(join(modules(), 'lockstep/docs/reference/in-place-restart.md'))).toBe(true);
    const help = spawnSync(process.execPath, [
      join(modules(), 'lockstep/bin/lockstep.js'),
      '--help',
    ]);
    expect(help.status).toBe(0);
  });
});
