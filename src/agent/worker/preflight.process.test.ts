import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { encodedBytes } from '../../jobset/worker-end/limited-text.ts';
import { runPreflight } from './preflight.ts';

const PATH = process.env['PATH'] ?? '';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-preflight-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A preflight in a real shell. */
class Scene {
  readonly logger = new MemoryLogger();
  readonly said: string[] = [];
  readonly abort = new AbortController();
  readonly unfit: Promise<string | undefined>;

  constructor(line: string) {
    const options = {
      command: { argv: ['train'], env: { PATH, D: directory }, cwd: directory } as const,
      say: (text: string) => this.said.push(text),
      processes: createNodeProcessRunner(),
      clock: nodeClock,
      random: systemRandom,
      logger: this.logger,
    };
    this.unfit = runPreflight(line, options, this.abort.signal);
  }

  get logged(): string | undefined {
    return this.logger.records.at(-1)?.message;
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** The process whose number a file of the preflight holds. */
async function processIn(name: string): Promise<number> {
  return until(`a number in the file ${name}`, async () => {
    const text = await readFile(join(directory, name), 'utf8');
    return text.endsWith('\n') && Number(text);
  });
}

const LEAVES_A_CHILD = `setsid sh -c 'echo $$ > "$D/child"; sleep 1000' & until [ -s "$D/child" ]; do sleep 0.01; done`;

it.each<[string, string, string | undefined]>([
  ['passes', 'echo fine; exit 0', undefined],
  ['fails with a text', 'echo looks >&2; sleep 0.1; echo "GPU 3 lost"; exit 1', 'GPU 3 lost'],
  ['fails without a text', 'exit 3', 'it exited with 3'],
  ['is killed', 'kill -SEGV $$', 'SIGSEGV ended it'],
  ['prints escapes', `printf '\\033[31mred\\n'; exit 1`, '\u001b[31mred'],
  ['is no shell at all', 'if [ -e / ', undefined],
  ['names no program', 'nvidia-smi-of-another-image -L', undefined],
  ['names a program that cannot be executed', '/dev/null', undefined],
])('one that %s', async (_what, line, unfit) => {
  expect(await new Scene(line).unfit).toBe(unfit);
});

it('one that floods its output ends, and says the last of it', async () => {
  const flood = `i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done`;
  const scene = new Scene(`${flood}; echo "ü$(printf '%0400d' 7)"; exit 1`);
  const unfit = (await scene.unfit) ?? '';
  expect(unfit).toMatch(/^0+7$/);
  expect(encodedBytes(unfit)).toBe(200);
  expect(scene.said.join('\n').length).toBeLessThanOrEqual(64 * 1024);
});

it('a child in another session ends with one that failed', async () => {
  const scene = new Scene(`${LEAVES_A_CHILD}; echo lost; exit 1`);
  expect(await scene.unfit).toBe('lost');
  const child = await processIn('child');
  await until('the child has ended', () => !isAlive(child));
});

it('one that hangs is ended at once, with its child, when the agent cannot wait', async () => {
  const scene = new Scene(`echo lost; ${LEAVES_A_CHILD}; trap '' TERM; echo $$ > self; sleep 1000`);
  const pids = await Promise.all(['self', 'child'].map(processIn));
  scene.abort.abort();
  expect(await scene.unfit).toBeUndefined();
  expect(scene.logged).toBe('the preflight was cut short');
  await until('both have ended', () => expect(pids.filter(isAlive)).toEqual([]));
});
