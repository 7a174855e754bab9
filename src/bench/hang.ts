/**
 * Measures how long a group is down after one worker stops without a word: from its SIGSTOP to the
 * start of the last new worker process, with a time-out of 10 s. The workers are real processes
 * that train in lockstep, on an embedded cluster. Says how often the stopped worker was named.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type LocalCluster, startLocalCluster } from '../cli/local-cluster/local-cluster.ts';
import { temporaryStateDirectory } from '../cli/state-directory.ts';
import { PROGRESS_TIMEOUT } from '../jobset/names.ts';
import type { GroupBenchOptions } from './group-restart.ts';
import { type Row, spread } from './table.ts';
import { WorkerGroup } from './worker-group.ts';

const GROUP_SIZES = [4, 64] as const;
const ROUNDS = 5;
const STEP_MS = 1000;
const TIMEOUT = '10s';

export async function benchHang(
  report: (row: Row) => void,
  { agents = GROUP_SIZES, signal }: Pick<GroupBenchOptions, 'agents' | 'signal'>,
): Promise<void> {
  for (const size of agents) {
    const state = temporaryStateDirectory();
    const cluster = await startLocalCluster({ state, remove: true, signal });
    try {
      const { downMs, verdicts } = await measure(cluster, size);
      report({
        benchmark: `SIGSTOP of one of ${size} workers, time-out ${TIMEOUT}`,
        unit: 'ms',
        ...spread(downMs),
        notes: verdicts.join(', '),
      });
    } finally {
      await cluster.stop();
      state.release(true);
    }
  }
}

async function measure(
  cluster: LocalCluster,
  size: number,
): Promise<{ readonly downMs: readonly number[]; readonly verdicts: readonly string[] }> {
  const directory = join(cluster.stateDirectory, 'bench');
  await mkdir(directory, { recursive: true });
  const group = await WorkerGroup.start({
    client: cluster.client,
    directory,
    name: 'bench',
    size,
    mode: 'Supervisor',
    stepMs: STEP_MS,
    annotations: { [PROGRESS_TIMEOUT]: TIMEOUT },
  });
  const downMs: number[] = [];
  const verdicts: string[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    await group.running(round);
    await group.stepped(3);
    const rank = round % size;
    const stoppedAt = performance.now();
    group.signal('SIGSTOP', rank);
    await group.until(`${round + 1} starts of all`, () => {
      return group.starts().length >= (round + 1) * size;
    });
    downMs.push(performance.now() - stoppedAt);
    await group.running(round + 1);
    verdicts.push(verdict(group, rank));
  }
  await group.remove();
  return { downMs, verdicts };
}

/** What the record says of the rank that was stopped. */
function verdict(group: WorkerGroup, rank: number): string {
  const suspects = group.status.restartHistory?.[0]?.suspects ?? [];
  if (suspects.length === 0) return 'unknown';
  const place = suspects.findIndex(({ completionIndex }) => completionIndex === rank);
  if (place === -1) return `wrong, ${suspects[0]?.confidence}`;
  return `${place === 0 ? 'right' : 'among others'}, ${suspects[place]?.confidence}`;
}
