import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import {
  type FakeProgram,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, test } from 'vitest';
import { lookIntoHung } from './hang-look.ts';
import type { ThreadLook } from './process-looks.ts';

class Scene {
  readonly clock = new VirtualClock();
  readonly logger = new MemoryLogger();
  readonly lines: string[] = [];
  readonly abort = new AbortController();
  readonly processes: MemoryProcessRunner;
  isDone = false;
  where: string | undefined;

  constructor(sh: FakeProgram | undefined, threads: readonly ThreadLook[] = []) {
    this.processes = new MemoryProcessRunner(sh === undefined ? {} : { sh });
    const looks = {
      isAlive: () => true,
      tree: () => undefined,
      threads: () => threads,
      oomKills: () => undefined,
    };
    const options = {
      clock: this.clock,
      logger: this.logger,
      processes: this.processes,
      command: 'dump',
      say: (line: string) => this.lines.push(line),
      looks,
    };
    void lookIntoHung({ pid: 42, env: { A: '1' }, cwd: '/' }, options, this.abort.signal).then(
      (where) => {
        this.where = where;
        this.isDone = true;
      },
    );
  }
}

test('a command knows the worker, and what it prints is passed on by lines', async () => {
  const scene = new Scene((self) => {
    self.write('stdout', 'Thread 1\n  in wa');
    self.write('stderr', 'it\nlast');
    self.exit(0);
  });
  await scene.clock.settle();
  expect(scene.processes.started[0]?.command).toMatchObject({
    argv: ['sh', '-c', 'dump'],
    env: { A: '1', LOCKSTEP_WORKER_PID: '42' },
  });
  expect(scene.lines).toEqual(['Thread 1', '  in wait', 'last']);
  expect(scene.isDone).toBe(true);
  expect(scene.logger.records).toEqual([]);
  expect(scene.clock.pendingTimers).toBe(0);
});

test('a command may tell where the worker is, in the first line that says so', async () => {
  const scene = new Scene((self) => {
    self.write('stdout', `  where=x\nwhere=\nwhere= ${'é'.repeat(100)}\r\nwhere=later\n`);
    self.exit(1);
  });
  await scene.clock.settle();
  expect(scene.where).toBe('é'.repeat(64));
});

test('one that hangs is killed after 10 s', async () => {
  const scene = new Scene((self) => {
    self.write('stdout', 'half');
    self.onSignal(() => undefined);
  });
  await scene.clock.advance(9999);
  expect(scene.isDone).toBe(false);
  await scene.clock.advance(1);
  expect(scene.isDone).toBe(true);
  expect(scene.processes.running).toEqual([]);
  expect(scene.lines).toEqual(['half']);
  expect(scene.logger.records).toMatchObject([{ fields: { problem: 'it took longer than 10 s' } }]);
});

test('one that hangs is not waited for when the worker has to end', async () => {
  const scene = new Scene((self) => self.onSignal(() => undefined));
  await scene.clock.advance(10);
  scene.abort.abort();
  await scene.clock.settle();
  expect(scene.isDone).toBe(true);
  expect(scene.processes.running).toEqual([]);
  expect(scene.logger.records).toMatchObject([{ fields: { problem: 'the worker had to end' } }]);
});

test.each<[string, FakeProgram | undefined, object]>([
  ['fails', (self) => self.exit(1), { problem: 'it failed', exitCode: 1 }],
  ['is missing', undefined, { err: expect.objectContaining({ code: 'ENOENT' }) }],
  [
    'prints without end',
    (self) => {
      for (let times = 0; times < 100; times++) self.write('stdout', `${'x'.repeat(1023)}\n`);
      self.exit(0);
    },
    { problem: 'it printed more than 64 KiB' },
  ],
])('one that %s is one line of the log', async (_what, sh, fields) => {
  const scene = new Scene(sh);
  await scene.clock.settle();
  expect(scene.isDone).toBe(true);
  expect(scene.logger.records).toMatchObject([{ fields }]);
  expect(scene.lines.join('\n').length).toBeLessThanOrEqual(64 * 1024);
});

test('threads go into the log, some in each line', async () => {
  const look = { pid: 42, name: 'python', state: 'S', waitsIn: 'futex_wait' };
  const threads = Array.from({ length: 20 }, (_, index) => ({ ...look, thread: 42 + index }));
  const scene = new Scene((self) => self.exit(0), threads);
  await scene.clock.settle();
  const logged = scene.logger.records.map(({ fields }) => fields['threads']);
  expect(logged).toEqual([threads.slice(0, 16), threads.slice(16)]);
});
