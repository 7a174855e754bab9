import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import {
  type FakeProcess,
  type FakeProgram,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, test } from 'vitest';
import { encodedBytes } from '../../jobset/worker-end/limited-text.ts';
import { runPreflight } from './preflight.ts';

class Scene {
  readonly clock = new VirtualClock();
  readonly logger = new MemoryLogger();
  readonly lines: string[] = [];
  readonly abort = new AbortController();
  readonly processes: MemoryProcessRunner;
  /** The result, once it has ended. */
  ended: { readonly unfit: string | undefined } | undefined;

  constructor(sh: FakeProgram | undefined) {
    this.processes = new MemoryProcessRunner(sh === undefined ? {} : { sh });
    const env = { A: '1', LOCKSTEP_HUB_CA: 'pem', LOCKSTEP_AGENT_VARIABLES: 'LOCKSTEP_HUB_CA' };
    const options = {
      command: { argv: ['train'], env, cwd: '/work' } as const,
      say: (line: string) => this.lines.push(line),
      processes: this.processes,
      clock: this.clock,
      random: new SeededRandom(1),
      logger: this.logger,
    };
    void runPreflight('check', options, this.abort.signal).then((unfit) => {
      this.ended = { unfit };
    });
  }

  get logged(): readonly string[] {
    return this.logger.records.slice(1).map(({ message }) => message);
  }
}

test('a preflight has the environment of the worker, but no epoch', async () => {
  const scene = new Scene((self) => self.exit(0));
  await scene.clock.settle();
  const [{ argv, env, cwd } = { argv: [], env: {}, cwd: '' }] = scene.processes.started.map(
    ({ command }) => command,
  );
  expect({ argv: argv.slice(0, 2), last: argv.at(-1), cwd }).toEqual({
    argv: ['sh', '-c'],
    last: 'check',
    cwd: '/work',
  });
  expect(env).toEqual({ A: '1', LOCKSTEP_WORKER: expect.any(String) });
  expect(scene.ended).toEqual({ unfit: undefined });
  expect(scene.logged).toEqual(['the preflight passed']);
});

const printed =
  (...texts: readonly string[]) =>
  (self: FakeProcess) => {
    for (const text of texts) self.write(text.startsWith('!') ? 'stderr' : 'stdout', text);
    self.exit(1);
  };

test.each<[string, FakeProgram, string]>([
  ['its last line', printed('GPU 0 ok\nGPU 3 lost\n'), 'GPU 3 lost'],
  ['the last of both streams', printed('looks\n', '! 2 errors\n', ' \n\n'), '! 2 errors'],
  ['a line without an end', printed('GPU 3\nfell o', 'ff'), 'fell off'],
  ['what stands on one line', printed('5 %\r50 %\rstuck\u2028\0here\r\n'), 'here'],
  ['escapes as they are', printed('\u001b[31mred \u202e\n'), '\u001b[31mred \u202e'],
  ['its exit code if it printed nothing', (self) => self.exit(3), 'it exited with 3'],
  ['its signal if it printed nothing', (self) => self.die('SIGSEGV'), 'SIGSEGV ended it'],
])('one that does not pass says %s', async (_what, sh, unfit) => {
  const scene = new Scene(sh);
  await scene.clock.settle();
  expect(scene.ended).toEqual({ unfit });
  expect(scene.logged).toEqual(['the preflight did not pass']);
  expect(scene.clock.pendingTimers).toBe(0);
});

test('one that floods its output says the last of it, within 200 bytes', async () => {
  const scene = new Scene((self) => {
    for (let times = 0; times < 2000; times++) self.write('stdout', `${'x'.repeat(99)}\n`);
    self.write('stderr', `${'\u001b"ü'.repeat(100)}the end\n`);
    self.exit(1);
  });
  await scene.clock.settle();
  expect(scene.ended?.unfit).toMatch(/ü.*the end$/);
  expect(encodedBytes(scene.ended?.unfit ?? '')).toBeLessThanOrEqual(200);
  expect(scene.lines.join('\n').length).toBeLessThanOrEqual(64 * 1024);
});

test('one that hangs is ended after 60 s with all that it started', async () => {
  const scene = new Scene((self) => {
    self.write('stdout', 'looks\n');
    self.fork('own group').onSignal(() => undefined);
    self.onSignal(() => undefined);
  });
  await scene.clock.advance(59_999);
  expect(scene.ended).toBeUndefined();
  await scene.clock.advance(1);
  expect(scene.ended).toEqual({ unfit: 'it took longer than 60 s' });
  expect(scene.processes.running).toEqual([]);
});

test('one that is cut short says nothing, and is ended with all that it started', async () => {
  const scene = new Scene((self) => {
    self.write('stdout', 'GPU 3 lost\n');
    self.fork('own group').onSignal(() => undefined);
  });
  await scene.clock.advance(10);
  scene.abort.abort();
  await scene.clock.settle();
  expect(scene.ended).toEqual({ unfit: undefined });
  expect(scene.processes.running).toEqual([]);
  expect(scene.logged).toEqual(['the preflight was cut short']);
  expect(scene.clock.pendingTimers).toBe(0);
});

test('descendants that it leaves behind end with it', async () => {
  const scene = new Scene((self) => {
    self.fork('own group').onSignal(() => undefined);
    self.exit(0);
  });
  await scene.clock.settle();
  expect(scene.ended).toEqual({ unfit: undefined });
  expect(scene.processes.running).toEqual([]);
});

test.each<[string, FakeProgram | undefined, string]>([
  ['a program that is missing', (self) => self.exit(127), 'the preflight cannot run'],
  ['one that cannot be executed', (self) => self.exit(126), 'the preflight cannot run'],
  ['no shell', undefined, 'the preflight could not be started'],
])('%s moves no member', async (_what, sh, message) => {
  const scene = new Scene(sh);
  await scene.clock.settle();
  expect(scene.ended).toEqual({ unfit: undefined });
  expect(scene.logger.records.at(-1)).toMatchObject({ level: 'warn' });
  expect(scene.logged.join()).toContain(message);
});
