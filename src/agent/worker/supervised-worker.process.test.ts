import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Supervisor, SupervisorOptions } from '../supervisor.ts';
import type { OwnEnd } from '../worker-exit.ts';
import { realSupervisor, untilStopped } from './real-supervisor.fixture.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-hung-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A real worker below a supervisor with everything that it has in a Pod. */
class Scene {
  readonly logger = new MemoryLogger();
  readonly said: string[] = [];
  readonly supervisor: Supervisor;
  readonly ended: Promise<OwnEnd>;

  constructor(script: string, more: Partial<SupervisorOptions> = {}) {
    const { logger, said } = this;
    const argv = ['/bin/bash', '-c', script] as const;
    const options = { argv, directory, said, logger, progressPrefix: 'step ', ...more };
    this.supervisor = realSupervisor(options);
    this.ended = new Promise((resolve) => this.supervisor.lift(7, resolve));
  }

  stepped(step: number): Promise<void> {
    return until(`step ${step}`, () => expect(this.supervisor.progress.progress?.step).toBe(step));
  }
}

const SLEEPS = 'while :; do sleep 0.01; done';

describe('a hung worker', () => {
  it('that was stopped is seen as such, and killed', async () => {
    const scene = new Scene(`echo $$ > pid; echo 330 > "$LOCKSTEP_PROGRESS_FILE"; kill -STOP $$`);
    await scene.stepped(330);
    await untilStopped(join(directory, 'pid'));
    scene.supervisor.killHung();
    expect(await scene.ended).toMatchObject({
      how: 'Hung',
      exit: { signal: 'SIGKILL' },
      restartsGroup: true,
      step: 330,
      states: 'T',
      silentMs: expect.any(Number),
    });
    const threads = scene.logger.records.flatMap(({ fields }) => fields['threads'] ?? []);
    expect(threads).toMatchObject([{ name: 'bash', state: 'T' }]);
  });

  it('is looked into by a command, which gets its number', async () => {
    const scene = new Scene(`echo step 3; echo $$ > pid; ${SLEEPS}`, {
      hangCommand: 'echo "looks at $LOCKSTEP_WORKER_PID"; echo where=sleep >&2',
    });
    await scene.stepped(3);
    scene.supervisor.killHung();
    expect(await scene.ended).toMatchObject({ how: 'Hung', step: 3, where: 'sleep' });
    const pid = (await readFile(join(directory, 'pid'), 'utf8')).trim();
    expect(scene.said.toSorted()).toEqual([`looks at ${pid}`, 'step 3\n', 'where=sleep']);
  });

  it('is killed at once when the agent cannot wait for a command that hangs', async () => {
    const scene = new Scene(`echo step 1; ${SLEEPS}`, {
      hangCommand: `trap '' TERM; echo looks; setsid sleep 1000 & sleep 1000`,
    });
    await scene.stepped(1);
    scene.supervisor.killHung();
    await until('the command runs', () => expect(scene.said).toContain('looks'));
    scene.supervisor.hurry();
    expect(await scene.ended).toMatchObject({ how: 'Hung' });
    expect(scene.logger.records.at(-1)?.fields).toEqual({ problem: 'the worker had to end' });
  });

  it('that ends while it is looked into has ended by itself', async () => {
    const scene = new Scene(`echo step 1; until [ -e go ]; do sleep 0.01; done; exit 0`, {
      hangCommand: 'touch go; sleep 1000',
    });
    await scene.stepped(1);
    scene.supervisor.killHung();
    expect(await scene.ended).toMatchObject({ how: 'Exited', exit: { exitCode: 0 } });
  });

  it('that is told to stop is looked into and killed, without a name for it', async () => {
    const scene = new Scene(`echo step 1; trap 'echo term' TERM; ${SLEEPS}`);
    await scene.stepped(1);
    scene.supervisor.stopWorker({ isSilent: true });
    expect(await scene.ended).toMatchObject({
      how: 'Killed',
      exit: { signal: 'SIGKILL' },
      step: 1,
    });
    expect(scene.said.join('')).toBe('step 1\n');
  });
});

describe('the end of a worker', () => {
  it('that obeyed says so', async () => {
    const scene = new Scene(`trap 'exit 5' TERM; echo step 2; ${SLEEPS}`);
    await scene.stepped(2);
    scene.supervisor.stopWorker({ isSilent: false });
    expect(await scene.ended).toMatchObject({ how: 'Stopped', exit: { exitCode: 5 }, step: 2 });
  });

  it.each([
    ['its standard error', 'echo boom >&2; exit 1', 'boom'],
    ['its termination message', 'echo boom >&2; echo why > message; exit 1', 'why'],
    [
      'what PyTorch wrote',
      `echo '{"message":{"message":"no CUDA","extraInfo":{}}}' > "$TORCHELASTIC_ERROR_FILE"; exit 1`,
      'no CUDA',
    ],
    ['no file that is a trap', 'mkfifo message; echo boom >&2; exit 1', 'boom'],
  ])('has %s', async (_what, script, words) => {
    const scene = new Scene(script);
    expect(await scene.ended).toMatchObject({
      how: 'Exited',
      exit: { exitCode: 1 },
      lastWords: words,
    });
  });

  it('tells how old words on its standard error are, and not how old a message is', async () => {
    const scene = new Scene('echo careful >&2; sleep 0.3; exit 1');
    const { saidMs } = await scene.ended;
    expect(saidMs).toBeGreaterThan(200);
    expect(saidMs).toBeLessThan(5000);
    const other = new Scene('echo careful >&2; echo why > message; exit 1');
    expect(await other.ended).not.toHaveProperty('saidMs');
  });

  it('failed when it printed its traceback, and not when its teardown was done', async () => {
    const fails = `echo 5 > "$LOCKSTEP_PROGRESS_FILE"; sleep 0.1; echo 'Traceback (most recent call last):' >&2`;
    const { failedMs } = await new Scene(`${fails}; sleep 0.4; exit 1`).ended;
    expect(failedMs).toBeGreaterThan(300);
    expect(failedMs).toBeLessThan(5000);
  });

  it('has the last line of progress, and not the line of the worker before', async () => {
    const scene = new Scene(
      `[ -e once ] || echo 9 checkpoint=8 > "$LOCKSTEP_PROGRESS_FILE"; touch once`,
    );
    expect(await scene.ended).toMatchObject({ step: 9, how: 'Exited', exit: { exitCode: 0 } });
    const again = new Promise<OwnEnd>((resolve) => scene.supervisor.lift(8, resolve));
    expect(await again).not.toHaveProperty('step');
  });
});
