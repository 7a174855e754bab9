/**
 * Measures how long a group is down after one worker stops without a word: from its SIGSTOP to the
 * start of the last new worker process, with a time-out of 10 s. The workers are real processes
 * that train in lockstep, on an embedded cluster. Says how often the stopped worker was named.
 */
import { PROGRESS_TIMEOUT } from '../jobset/names.ts';
import { type BenchOptions, type Report, spread } from './table.ts';
import { withWorkerGroup } from './worker-cluster.ts';
import type { WorkerGroup } from './worker-group.ts';

const GROUP_SIZES = [4, 64] as const;
const ROUNDS = 5;
const STEP_MS = 1000;
const TIMEOUT = '10s';

export async function benchHang(
  report: Report,
  { agents = GROUP_SIZES, signal }: BenchOptions,
): Promise<void> {
  const annotations = { [PROGRESS_TIMEOUT]: TIMEOUT };
  for (const size of agents) {
    const options = { size, mode: 'Supervisor', stepMs: STEP_MS, annotations } as const;
    const { downMs, verdicts } = await withWorkerGroup({ signal }, options, measure);
    report({
      benchmark: `SIGSTOP of one of ${size} workers, time-out ${TIMEOUT}`,
      unit: 'ms',
      ...spread(downMs),
      notes: verdicts.join(', '),
    });
  }
}

async function measure(
  group: WorkerGroup,
): Promise<{ readonly downMs: readonly number[]; readonly verdicts: readonly string[] }> {
  const downMs: number[] = [];
  const verdicts: string[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    await group.running(round);
    await group.stepped(3);
    const rank = round % group.size;
    const stoppedAt = performance.now();
    group.signal('SIGSTOP', rank);
    await group.started((round + 1) * group.size);
    downMs.push(performance.now() - stoppedAt);
    await group.running(round + 1);
    verdicts.push(verdict(group, rank));
  }
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
