/**
 * The callbacks of the Python package in training runs of the real frameworks. A run is killed behind
 * a checkpoint, and another one continues. Both report what Lockstep reads.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseProgressLine } from '../../src/jobset/progress/progress.ts';
import { pythonWheel, WHEEL_FILE } from '../../tools/python-package.ts';

const TORCH = process.env['LOCKSTEP_TEST_TORCH_PYTHON'];
const PACKAGES = process.env['LOCKSTEP_TEST_TORCH_PACKAGES'];
const PROGRAMS = fileURLToPath(new URL('adapters/', import.meta.url));
/** Most of it the imports take. */
const LIMIT_MS = 120_000;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-adapter-'));
  mkdirSync(join(directory, 'checkpoints'));
  writeFileSync(join(directory, WHEEL_FILE), pythonWheel());
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The lines of progress that a life of the run has written so far. */
function linesOf(life: number): readonly string[] {
  const path = join(directory, `progress-${life}`);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

/** Starts a life of the run, up to a step, with a package. */
function start(program: string, [steps, name]: readonly [number, string], life: number) {
  const args = [join(PROGRAMS, program), join(directory, 'checkpoints'), String(steps), name];
  const child = spawn(TORCH ?? '', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONPATH: `${PACKAGES}:${join(directory, WHEEL_FILE)}`,
      LOCKSTEP_PROGRESS_FILE: join(directory, `progress-${life}`),
      LOCKSTEP_EPOCH: String(life),
    },
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const closed = once(child, 'close');
  return { child, closed, errors: () => errors };
}

describe.skipIf(TORCH === undefined || PACKAGES === undefined)('the callback', () => {
  it.each([
    ['lightning_run.py', 'lightning.pytorch'],
    ['lightning_run.py', 'pytorch_lightning'],
    ['transformers_run.py', 'transformers'],
  ])(
    'in %s, with %s, reports steps, checkpoints and evaluations, and continues after a kill',
    { timeout: 3 * LIMIT_MS },
    async (program, name) => {
      const first = start(program, [1000, name], 1);
      try {
        const hasSaved = (): boolean =>
          linesOf(1).some((line) => line.startsWith('9 checkpoint=8')) ||
          first.child.exitCode !== null;
        await until('a step behind the second checkpoint', hasSaved, LIMIT_MS);
      } finally {
        first.child.kill('SIGKILL');
        await first.closed;
      }
      expect({ lines: linesOf(1), errors: first.errors() }).toMatchObject({
        lines: expect.arrayContaining([
          '1',
          '4 phase=save timeout=5m',
          '4 checkpoint=4',
          '5 checkpoint=4 phase=evaluate',
          '9 checkpoint=8',
        ]),
      });
      const read = linesOf(1).map(parseProgressLine);
      expect(read).not.toContain(undefined);
      const saved = read.at(-1)?.checkpoint ?? Number.NaN;
      const last = saved + 10;

      const second = start(program, [last, name], 2);
      const [code] = (await second.closed) as [number];
      expect({ code, errors: second.errors() }).toMatchObject({ code: 0 });
      const steps = linesOf(2)
        .map(parseProgressLine)
        .filter((line) => line?.step !== undefined);
      expect(steps[0]).toMatchObject({ checkpoint: expect.any(Number) });
      expect(steps[0]?.step).toBe((steps[0]?.checkpoint ?? 0) + 1);
      expect(steps[0]?.checkpoint).toBeGreaterThanOrEqual(saved);
      expect(steps.at(-1)?.step).toBe(last);
      expect(steps.at(-1)?.checkpoint).toBeGreaterThan(saved);
    },
  );
});
