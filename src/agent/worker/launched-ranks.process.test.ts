import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
  directory = await mkdtemp(join(tmpdir(), 'lockstep-launcher-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Reports steps until a file says what it has to do instead. */
const RANK = `
  n=$1
  say() { echo "$1 pid=$BASHPID rank=$((40 + n))" >> "$LOCKSTEP_PROGRESS_FILE.$n"; }
  fail() {
    ns=$(python3 -c 'import time; print(time.monotonic_ns())')
    printf '{"pid": %s, "monotonicNs": "%s", "message": {"message": "E: rank %s"}}' $$ "$ns" $n \\
      > "$LOCKSTEP_PROGRESS_FILE.$n.error"
    sleep 0.2
    exit 1
  }
  trap 'echo stack > "$LOCKSTEP_PROGRESS_FILE.$n.terminated"; trap - TERM; kill $$' TERM
  step=0
  while :; do
    step=$((step + 1))
    say $step
    sleep 0.05
    [ -e "$D/do-$n" ] && eval "$(cat "$D/do-$n")"
  done
`;
/** As torchrun: ends all once one has failed, and fails then. It has no other child than its ranks. */
const LAUNCHER = `
  mkfifo "$D/never"
  exec 9<> "$D/never"
  pids=
  for n in 0 1 2 3; do bash -c "$RANK" rank $n & pids="$pids $!"; done
  while :; do
    read -rt 0.1 -u 9
    for pid in $pids; do
      kill -0 $pid 2>/dev/null && continue
      wait $pid && continue
      [ -e "$D/waits" ] && continue
      kill $pids 2>/dev/null
      wait
      exit 1
    done
  done
`;

/** A launcher with four ranks below a supervisor with all that it has in a Pod. */
class Scene {
  readonly logger = new MemoryLogger();
  readonly said: string[] = [];
  readonly supervisor: Supervisor;
  readonly ended: Promise<OwnEnd>;

  constructor(more: Partial<SupervisorOptions> = {}) {
    const { logger, said } = this;
    const argv = [
      '/bin/bash',
      '-c',
      `RANK='${RANK.replaceAll("'", `'\\''`)}'; ${LAUNCHER}`,
    ] as const;
    this.supervisor = realSupervisor({ argv, directory, said, logger, ...more });
    this.ended = new Promise((resolve) => this.supervisor.lift(7, resolve));
  }

  /** Once all ranks have reported, and were looked at. */
  async stepping(): Promise<void> {
    await until('all ranks step', () => {
      const locals = this.supervisor.progress.reporters.map(({ local }) => local);
      expect(new Set(locals)).toEqual(new Set([0, 1, 2, 3]));
      expect(this.supervisor.progress.progress?.step).toBeGreaterThan(3);
    });
  }

  async after(local: number, fault: string): Promise<OwnEnd> {
    await this.stepping();
    await writeFile(join(directory, `do-${local}`), fault);
    return this.ended;
  }
}

const NAMED = { how: 'Exited', exit: { exitCode: 1 }, local: 2, rank: 42 } as const;

describe('the rank below a launcher that failed first', () => {
  it.each([
    ['is killed', 'kill -KILL $$'],
    ['crashes', 'kill -SEGV $$'],
    ['exits without a word', 'exit 3'],
  ])('is named when it %s', async (_what, fault) => {
    const end = await new Scene().after(2, fault);
    expect(end).toMatchObject({ ...NAMED, firstRank: expect.stringMatching(/Killed|Silent/) });
    expect(end.failedMs).toBeGreaterThan(0);
    expect(end.failedMs).toBeLessThan(5000);
  });

  it('is named when it raises an exception, with what it said', async () => {
    const end = await new Scene().after(2, 'fail');
    expect(end).toMatchObject({ ...NAMED, firstRank: 'Raised', lastWords: 'E: rank 2' });
    expect(end.failedMs).toBeGreaterThan(150);
  });

  it('is none if the launcher itself ends', async () => {
    const scene = new Scene();
    await scene.stepping();
    await writeFile(join(directory, 'do-0'), 'kill -KILL $PPID; sleep 9');
    expect(await scene.ended).toMatchObject({ how: 'Signaled', firstRank: 'None' });
    expect(await scene.ended).not.toHaveProperty('local');
  });

  it('is one that was gone long before all were ended as hung', async () => {
    const scene = new Scene();
    await scene.stepping();
    await writeFile(join(directory, 'waits'), '');
    for (const local of [0, 1, 3]) await writeFile(join(directory, `do-${local}`), 'sleep 1000');
    await writeFile(join(directory, 'do-2'), 'exit 0');
    await until('it is gone', () =>
      expect(scene.supervisor.progress.silentMs).toBeGreaterThan(1500),
    );
    scene.supervisor.killHung();
    expect(await scene.ended).toMatchObject({
      how: 'Hung',
      local: 2,
      rank: 42,
      firstRank: 'Silent',
    });
  });
});

describe('a hang below a launcher', () => {
  it('is looked into at the rank that was stopped, and names it', async () => {
    const scene = new Scene({
      hangCommand: 'echo "$LOCAL_RANK $RANK $LOCKSTEP_WORKER_PID"; echo where=rank $LOCAL_RANK',
    });
    await scene.stepping();
    for (const local of [0, 1, 3]) await writeFile(join(directory, `do-${local}`), 'sleep 1000');
    await writeFile(join(directory, 'do-2'), 'echo $$ > "$D/pid"; kill -STOP $$');
    await until('all wait', () => expect(scene.supervisor.progress.silentMs).toBeGreaterThan(1000));
    await untilStopped(join(directory, 'pid'));
    scene.supervisor.killHung();
    expect(await scene.ended).toMatchObject({
      how: 'Hung',
      local: 2,
      rank: 42,
      where: 'rank 2',
      states: 'T',
    });
    const looked = scene.said
      .filter((line) => /^\[4[0-3]\] [0-3] 4[0-3] [0-9]+$/.test(line))
      .toSorted();
    expect(looked.map((line) => line.slice(0, 9))).toEqual([
      '[40] 0 40',
      '[41] 1 41',
      '[42] 2 42',
      '[43] 3 43',
    ]);
  });
});
