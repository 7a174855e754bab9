import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSupervisor, type Supervisor } from './supervisor.ts';
import { UNSEEN_WORKER } from './worker/unseen-worker.fixture.ts';
import { exitCodeOf, type OwnEnd } from './worker-exit.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-supervisor-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Runs `script` as a worker and returns how to reach it, and its end. */
function run(
  script: string,
  stopGraceMs = 200,
  more: StringMap = {},
): { readonly supervisor: Supervisor; readonly ended: Promise<OwnEnd> } {
  const supervisor = createSupervisor({
    ...UNSEEN_WORKER,
    command: {
      argv: ['/bin/bash', '-c', script],
      env: { PATH: process.env['PATH'] ?? '', DIRECTORY: directory, ...more },
      cwd: directory,
    },
    rules: [],
    stopGraceMs,
    processes: createNodeProcessRunner(),
    clock: nodeClock,
    random: systemRandom,
    logger: SILENT,
  });
  const ended = new Promise<OwnEnd>((resolve) => supervisor.lift(7, resolve));
  return { supervisor, ended };
}

/** The text of the file, once it ends in a line feed. */
function fileText(name: string): Promise<string> {
  return until(`a whole line in the file ${name}`, async () => {
    const text = await readFile(join(directory, name), 'utf8');
    return text.endsWith('\n') && text;
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a supervised worker', () => {
  it.each([
    ['its code', 'exit 3', { exitCode: 3 }, 3],
    ['0', 'exit 0', { exitCode: 0 }, 0],
    ['128+n for a signal', 'kill -SEGV $$', { signal: 'SIGSEGV' }, 139],
  ])('is reported with %s', async (_, script, expected, code) => {
    const { exit } = await run(script).ended;
    expect(exit).toEqual(expected);
    expect(exitCodeOf(exit)).toBe(code);
  });

  it('gives its worker two variables of its own, and none that are for the agent', async () => {
    const told = {
      POD_UID: 'u',
      LOCKSTEP_HUB_CA: 'pem',
      LOCKSTEP_AGENT_VARIABLES: 'POD_UID,LOCKSTEP_HUB_CA',
    };
    const { ended } = run('compgen -e > "$DIRECTORY/names"', 200, { ...told, RANK: '1' });
    await ended;
    const names = (await fileText('names')).trim().split('\n');
    const ofShell = new Set(['PWD', 'SHLVL', 'OLDPWD', '_']);
    const expected = ['DIRECTORY', 'LOCKSTEP_EPOCH', 'LOCKSTEP_WORKER', 'PATH', 'RANK'];
    expect(names.filter((name) => !ofShell.has(name)).toSorted()).toEqual(expected);
  });

  it('knows its epoch', async () => {
    await run('echo $LOCKSTEP_EPOCH > epoch').ended;
    expect(await fileText('epoch')).toBe('7\n');
  });

  it('takes its descendants with it, those in other sessions too', async () => {
    const { ended } = run(`
      trap '' TERM
      (trap '' TERM; echo $BASHPID > group; while :; do sleep 1; done) &
      setsid bash -c "trap '' TERM HUP; echo \\$\\$ > session; while :; do sleep 1; done" &
      until [ -s group ] && [ -s session ]; do sleep 0.01; done
      exit 9`);
    expect((await ended).exit).toEqual({ exitCode: 9 });
    const pids = await Promise.all(['group', 'session'].map(fileText));
    await until('all have ended', () => expect(pids.map(Number).filter(isAlive)).toEqual([]));
  });

  it('may clean up within the grace', async () => {
    const { supervisor, ended } = run(
      `trap 'echo saved > checkpoint; exit 5' TERM; echo > ready; while :; do sleep 0.01; done`,
      10_000,
    );
    await fileText('ready');
    supervisor.stopWorker({ isSilent: false });
    expect((await ended).exit).toEqual({ exitCode: 5 });
    expect(await fileText('checkpoint')).toBe('saved\n');
  });

  it('is killed when it ignores SIGTERM for longer than the grace', async () => {
    const { supervisor, ended } = run(
      `trap '' TERM; echo > ready; while :; do sleep 0.01; done`,
      50,
    );
    await fileText('ready');
    supervisor.stopWorker({ isSilent: false });
    expect(await ended).toMatchObject({ how: 'Killed', exit: { signal: 'SIGKILL' } });
  });

  it('receives the signals that are forwarded', async () => {
    const { supervisor, ended } = run(
      `trap 'echo hup > hup' HUP; trap 'exit 6' USR1; echo > ready; while :; do sleep 0.01; done`,
    );
    await fileText('ready');
    supervisor.forward('SIGHUP');
    expect(await fileText('hup')).toBe('hup\n');
    supervisor.forward('SIGUSR1');
    expect((await ended).exit).toEqual({ exitCode: 6 });
  });
});
