import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MemberRanks } from '../../jobset/ranks/member-ranks.ts';
import type { Supervisor, SupervisorOptions } from '../supervisor.ts';
import type { OwnEnd } from '../worker-exit.ts';
import { realSupervisor, untilStopped } from './real-supervisor.fixture.ts';

const RANKS: MemberRanks = {
  processes: 4,
  firstRank: 8,
  world: 12,
  groupRank: 2,
  groups: 3,
  master: 'train-workers-0-0.train',
};
/** For how long a test holds up its own agent. */
const HOLD_LIMIT_MS = 10_000;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-ranks-'));
});
afterEach(() => {
  for (const pid of left()) process.kill(pid, 'SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const RUNS = 'while :; do sleep 0.01; done';

/**
 * Four processes that say hello, wait for each other, and then do what the script of their local rank
 * says. Without one, they run.
 */
class Scene {
  readonly logger = new MemoryLogger();
  readonly said: string[] = [];
  readonly supervisor: Supervisor;
  ended: Promise<OwnEnd> = Promise.reject(new Error('not lifted'));

  constructor(
    scripts: Readonly<Record<number, string>>,
    more: Partial<SupervisorOptions> & { readonly argv?: readonly [string, ...string[]] } = {},
  ) {
    this.ended.catch(() => undefined);
    const { logger, said } = this;
    const own = Object.entries(scripts).map(([local, script]) => `${local}) ${script} ;;`);
    const script = `
      echo "hello from $RANK of $WORLD_SIZE"
      echo $$ > "pid-$LOCAL_RANK"
      until [ -e pid-0 ] && [ -e pid-1 ] && [ -e pid-2 ] && [ -e pid-3 ]; do sleep 0.01; done
      case $LOCAL_RANK in
      ${own.join('\n')}
      *) ${RUNS} ;;
      esac`;
    const argv = ['/bin/bash', '-c', script] as const;
    this.supervisor = realSupervisor({ argv, directory, said, logger, ...more });
    this.lift(7);
  }

  lift(epoch: number, ranks = RANKS): void {
    this.ended = new Promise((resolve) => this.supervisor.lift(epoch, resolve, ranks));
  }

  get text(): string {
    return this.said.join('');
  }
}

function pidOf(local: number): Promise<number> {
  return until(`process ${local} runs`, () => {
    const pid = Number(readFileSync(join(directory, `pid-${local}`), 'utf8'));
    return pid > 0 && pid;
  });
}

function stateOf(pid: number): string | undefined {
  try {
    return /^\d+ \(.*\) (.)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

/** Processes of this test that live. */
function left(): readonly number[] {
  const isOurs = (pid: number): boolean => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`D=${directory}\0`);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isOurs(pid) && stateOf(pid) !== 'Z');
}

/** Lets the event loop of the agent stand still until these have died. */
function holdUntilDead(pids: readonly number[]): void {
  const deadline = performance.now() + HOLD_LIMIT_MS;
  while (!pids.every((pid) => stateOf(pid) === 'Z')) {
    if (performance.now() > deadline) throw new Error(`${pids.join(', ')} still run`);
  }
}

describe('a worker of four processes', () => {
  it.each<[string, Readonly<Record<number, string>>, object]>([
    ['SIGKILL of one', { 2: 'kill -KILL $$' }, { exit: { signal: 'SIGKILL' }, local: 2, rank: 10 }],
    [
      'SIGSEGV of one',
      { 0: 'echo boom >&2; kill -SEGV $$' },
      { how: 'Signaled', exit: { signal: 'SIGSEGV' }, local: 0, rank: 8, lastWords: 'boom' },
    ],
    [
      'one that exits with 3, while others print',
      { 1: 'echo boom >&2; exit 3', 2: `echo noise >&2; ${RUNS}` },
      { how: 'Exited', exit: { exitCode: 3 }, local: 1, rank: 9, lastWords: 'boom' },
    ],
    [
      'one with an exception in its own file',
      {
        3: `echo '{"message":{"message":"no CUDA","extraInfo":{}}}' > "$TORCHELASTIC_ERROR_FILE"; exit 1`,
      },
      { exit: { exitCode: 1 }, local: 3, rank: 11, lastWords: 'no CUDA' },
    ],
    [
      'one whose own words beat those of another in the file of the container',
      {
        1: 'until [ -s message ]; do sleep 0.01; done; echo boom >&2; exit 3',
        2: `echo 'from another' > message; ${RUNS}`,
      },
      { exit: { exitCode: 3 }, local: 1, lastWords: 'boom' },
    ],
    [
      'one after another that had exited with 0',
      { 0: 'exit 0', 3: 'while kill -0 $(cat pid-0); do sleep 0.01; done; exit 5' },
      { how: 'Exited', exit: { exitCode: 5 }, local: 3, rank: 11 },
    ],
  ])('ends with %s', async (_, scripts, expected) => {
    const scene = new Scene(scripts);
    expect(await scene.ended).toMatchObject({ epoch: 7, restartsGroup: true, ...expected });
    expect(left()).toEqual([]);
  });

  it.each<[string, string]>([
    ['fails because of that', 'exit 5'],
    ['is ended with the others', RUNS],
  ])('names one that exited with 0 between steps, where a peer %s', async (_, script) => {
    const step = (step: number): string => `echo ${step} > "$LOCKSTEP_PROGRESS_FILE"`;
    const isTaken = 'until [ -e taken ]; do sleep 0.01; done';
    const steps = `${step(1)}; until [ -e one ]; do sleep 0.01; done; ${step(2)}; ${isTaken}`;
    const waits = `${steps}; while kill -0 $(cat pid-1); do sleep 0.01; done; touch gone; ${script}`;
    const scene = new Scene({ 0: waits, 1: `${steps}; exit 0`, 2: waits, 3: waits });
    const { progress } = scene.supervisor;
    await until('the first step is read', () => progress.progress?.step === 1);
    writeFileSync(join(directory, 'one'), '');
    await until('the second step is read', () => progress.progress?.step === 2);
    writeFileSync(join(directory, 'taken'), '');
    await until('it is gone', () => existsSync(join(directory, 'gone')));
    if (script === RUNS) scene.supervisor.stopWorker({ isSilent: false });
    const end = await scene.ended;
    expect(end).toMatchObject({ local: 1, rank: 9, firstRank: 'Left' });
    expect(end.exit).not.toEqual({ exitCode: 0 });
  });

  it('ends with 0 when all have exited with 0, the last of them too', async () => {
    const last =
      'while kill -0 $(cat pid-0); do sleep 0.01; done; echo 5 > "$LOCKSTEP_PROGRESS_FILE"';
    const scene = new Scene({ 0: 'exit 0', 1: 'exit 0', 2: 'exit 0', 3: `${last}; exit 0` });
    const end = await scene.ended;
    expect(end).toMatchObject({ how: 'Exited', exit: { exitCode: 0 }, step: 5 });
    expect(end).not.toHaveProperty('local');
    expect(end).not.toHaveProperty('restartsGroup');
  });

  it.each<[string, Readonly<Record<number, string>>]>([
    ['an exit code', { 0: 'exit 3', 3: 'kill -SEGV $$' }],
    ['SIGTERM', { 1: 'kill -TERM $$', 3: 'kill -SEGV $$' }],
  ])('that loses two at once is about the one of SIGSEGV, not of %s', async (_, scripts) => {
    const waits = (script: string): string => `until [ -e go ]; do :; done; ${script}`;
    const locals = Object.keys(scripts).map(Number);
    const scene = new Scene(
      Object.fromEntries(locals.map((local) => [local, waits(scripts[local] ?? '')])),
    );
    const pids = await Promise.all(locals.map(pidOf));
    writeFileSync(join(directory, 'go'), '');
    holdUntilDead(pids);
    expect(await scene.ended).toMatchObject({ exit: { signal: 'SIGSEGV' }, local: 3 });
  });

  it('names none of them where another may have raised an exception before the first step', async () => {
    const raises = `echo 'Traceback (most recent call last):' >&2; sleep 0.3; touch raised; ${RUNS}`;
    const scene = new Scene({ 0: 'until [ -e raised ]; do sleep 0.01; done; exit 3', 1: raises });
    const end = await scene.ended;
    expect(end).toMatchObject({ exit: { exitCode: 3 } });
    expect(end).not.toHaveProperty('local');
  });

  it.each<[string, string, object]>([
    ['is named if it died of SIGKILL', 'kill -KILL $$', { local: 1 }],
    ['is not named if it exited, as others may have raised before', 'exit 3', { rank: undefined }],
  ])('whose standard error is not read %s', async (_, script, expected) => {
    const output = {
      begin: async () => ({ streams: {}, handedOver: () => undefined, end: () => undefined }),
    };
    const { rank, local } = await new Scene({ 1: script }, { output }).ended;
    expect({ rank, local }).toMatchObject(expected);
  });

  it('that cannot be started is said to be so, and none of its processes is named', async () => {
    const end = await new Scene({}, { argv: ['/no/such/program'] }).ended;
    const lastWords = 'exec "/no/such/program": no such file or directory';
    expect(end).toMatchObject({ exit: { exitCode: 127 }, lastWords });
    expect(end).not.toHaveProperty('local');
  });

  it('that is stopped from outside has its grace in each process', async () => {
    const saves = `trap 'echo saved > saved-$LOCAL_RANK; exit 5' TERM; echo > ready-$LOCAL_RANK; ${RUNS}`;
    const scene = new Scene({ 0: saves, 1: saves, 2: saves, 3: saves });
    const filesOf = (name: string): readonly string[] =>
      readdirSync(directory).filter((file) => file.startsWith(name));
    await until('all run', () => expect(filesOf('ready-')).toHaveLength(4));
    scene.supervisor.stopWorker({ isSilent: false });
    const end = await scene.ended;
    expect(end).toMatchObject({ how: 'Stopped', exit: { exitCode: 5 } });
    expect(end).not.toHaveProperty('local');
    expect(filesOf('saved-')).toHaveLength(4);
  });

  it('takes all descendants with it, those in sessions of their own too', async () => {
    const leaves = 'setsid sleep 1000 & sleep 1000 & exit 0';
    const scene = new Scene({ 0: leaves, 1: leaves, 2: 'exit 4' });
    expect(await scene.ended).toMatchObject({ exit: { exitCode: 4 }, local: 2 });
    await until('all have ended', () => expect(left()).toEqual([]));
  });

  it('prints whole lines behind the rank', async () => {
    const scene = new Scene({
      0: `printf 'half '; sleep 0.1; echo whole; exit 0`,
      1: `printf '10%%\\r20%%\\r'; exit 0`,
      2: 'echo error >&2; exit 0',
      3: 'exit 0',
    });
    await scene.ended;
    const lines = scene.text.split('\n');
    for (const rank of [8, 9, 10, 11])
      expect(lines).toContain(`[${rank}] hello from ${rank} of 12`);
    for (const line of ['[8] half whole', '[9] 10%', '[9] 20%', '[10] error']) {
      expect(lines).toContain(line);
    }
  });
});

describe('a hung worker of four processes', () => {
  const reports = 'echo 330 > "$LOCKSTEP_PROGRESS_FILE"';

  async function hang(scripts: Readonly<Record<number, string>>): Promise<Scene> {
    const scene = new Scene(scripts, {
      hangCommand: 'echo "looks at $LOCAL_RANK, $LOCKSTEP_WORKER_PID"; echo where=in-$LOCAL_RANK',
    });
    await until('all have reported', () => {
      const { reporters } = scene.supervisor.progress;
      expect(reporters.map(({ watch }) => watch.progress?.step)).toEqual([330, 330, 330, 330]);
      // The hang command looks into those that were silent for at least half as long as the most silent.
      const silences = reporters.map(({ watch }) => watch.silentMs);
      expect(Math.min(...silences)).toBeGreaterThanOrEqual(Math.max(...silences) / 2);
    });
    return scene;
  }

  it('is about the one that was stopped', async () => {
    const waits = `${reports}; ${RUNS}`;
    const scene = await hang({ 0: waits, 1: waits, 2: `${reports}; kill -STOP $$`, 3: waits });
    await untilStopped(join(directory, 'pid-2'));
    scene.supervisor.killHung();
    expect(await scene.ended).toMatchObject({
      how: 'Hung',
      step: 330,
      local: 2,
      rank: 10,
      states: 'T',
      where: 'in-2',
    });
    const looks = scene.said.filter((line) => line.includes('looks at')).toSorted();
    const pids = await Promise.all([0, 1, 2, 3].map(pidOf));
    const expected = pids.map((pid, local) => `[${8 + local}] looks at ${local}, ${pid}`);
    expect(looks).toEqual(expected.toSorted());
  });

  it('names none where nothing singles one out', async () => {
    const waits = `${reports}; ${RUNS}`;
    const scene = await hang({ 0: waits, 1: waits, 2: waits, 3: waits });
    scene.supervisor.killHung();
    const end = await scene.ended;
    expect(end).toMatchObject({ how: 'Hung', step: 330 });
    expect(end).not.toHaveProperty('local');
  });

  it('is about the one whose end explains the silence, if it dies meanwhile', async () => {
    const waits = `${reports}; ${RUNS}`;
    const dies = `${reports}; until [ -e go ]; do sleep 0.01; done; exit 9`;
    const scene = new Scene(
      { 0: waits, 1: dies, 2: waits, 3: waits },
      { hangCommand: 'touch go; sleep 1000' },
    );
    await until('it has reported', () =>
      expect(scene.supervisor.progress.progress?.step).toBe(330),
    );
    scene.supervisor.killHung();
    expect(await scene.ended).toMatchObject({ how: 'Exited', exit: { exitCode: 9 }, local: 1 });
  });
});

describe('warm standbys of four processes', () => {
  const waits = `
    echo phase=standby >> "$LOCKSTEP_PROGRESS_FILE"
    until [ -e "$LOCKSTEP_START_FILE" ]; do sleep 0.01; done
    echo "$(cat "$LOCKSTEP_START_FILE") $RANK $WORLD_SIZE $LOCKSTEP_WORKER \${LOCKSTEP_STANDBY:-0}" >> runs
    echo 1 >> "$LOCKSTEP_PROGRESS_FILE"
    ${RUNS}`;

  function runs(epoch: number): Promise<readonly string[]> {
    return until(`epoch ${epoch} runs in all processes`, () => {
      const lines = readFileSync(join(directory, 'runs'), 'utf8').trim().split('\n');
      const own = lines.filter((line) => line.startsWith(`epoch ${epoch} `));
      return own.length === 4 && own.map((line) => line.replace(/^epoch \d+ /, ''));
    });
  }

  async function ready(scene: Scene): Promise<void> {
    await until('the standby is ready', () =>
      expect(scene.supervisor.progress.progress?.standby).toBe('Ready'),
    );
  }

  async function stop(scene: Scene): Promise<void> {
    scene.supervisor.stopWorker({ isSilent: false });
    await scene.ended;
  }

  it('are promoted together, and not with numbers of another group', async () => {
    const scene = new Scene({ 0: waits, 1: waits, 2: waits, 3: waits }, { hasStandby: true });
    const cold = await runs(7);
    expect(cold.toSorted().map((line) => line.split(' ')[3])).toEqual(['0', '0', '0', '0']);
    await ready(scene);
    await stop(scene);
    scene.lift(8);
    const warm = await runs(8);
    expect(new Set(warm.map((line) => line.split(' ')[0]))).toEqual(
      new Set(['8', '9', '10', '11']),
    );
    const marks = new Set(warm.map((line) => line.split(' ').slice(2).join(' ')));
    expect([...marks]).toEqual([expect.stringMatching(/ 1$/)]);
    await ready(scene);
    await stop(scene);
    scene.lift(9, { ...RANKS, world: 16, groups: 4 });
    const larger = await runs(9);
    expect(larger.every((line) => / 16 \S+ 0$/.test(line))).toBe(true);
    await stop(scene);
    await scene.supervisor.dropStandby?.();
    expect(left()).toEqual([]);
  });
});
