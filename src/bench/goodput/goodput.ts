/**
 * Computes what share of 54 days a group of 16,384 GPUs would train, by how it deals with failures
 * and how often it writes checkpoints. Nothing of it depends on the speed of this machine: the same
 * seed gives the same table everywhere. `docs/reference/performance.md#effective-training-time`
 * says what is measured and what is assumed.
 */
import { setImmediate } from 'node:timers/promises';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { PROGRESS_TIMEOUT, REPLACE_AFTER } from '../../jobset/names.ts';
import type { Row } from '../table.ts';
import * as costs from './costs.ts';
import { drawOutages, RUN_MS } from './failures.ts';
import { differences, type TimeClass } from './ledger.ts';
import type { RestartStrategy, RunResult } from './restart-strategies.ts';
import { simulate } from './simulated-run.ts';

const IN_PLACE = { restartStrategy: 'InPlaceRestart', hasStandby: false } as const;
const FINDS_HANGS = { [PROGRESS_TIMEOUT]: costs.PROGRESS_TIMEOUT };
const LEAVES_NODES = { ...FINDS_HANGS, [REPLACE_AFTER]: costs.REPLACE_AFTER };

/** Each but the first does all that the one before it does. */
export const STRATEGIES: readonly RestartStrategy[] = [
  { name: 'Recreate', restartStrategy: 'Recreate', annotations: {}, hasStandby: false },
  { name: 'In place', ...IN_PLACE, annotations: {} },
  { name: 'and hangs found', ...IN_PLACE, annotations: FINDS_HANGS },
  { name: 'and warm standby', ...IN_PLACE, annotations: FINDS_HANGS, hasStandby: true },
  { name: 'and bad nodes left', ...IN_PLACE, annotations: LEAVES_NODES, hasStandby: true },
];
const CHECKPOINT_MINUTES = [30, 10, 1] as const;
const SHOWN: readonly TimeClass[] = ['Starting', 'Lost', 'Hung', 'Restarting'];
const HOUR_MS = 60 * 60_000;

export interface GoodputOptions {
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly runMs?: number;
}

export async function benchGoodput(
  report: (row: Row) => void,
  { seed, signal, runMs = RUN_MS }: GoodputOptions,
): Promise<void> {
  const outages = drawOutages(new SeededRandom(seed), costs.SIMULATED_MEMBERS);
  for (const strategy of STRATEGIES) {
    for (const minutes of CHECKPOINT_MINUTES) {
      const checkpointMs = minutes * 60_000;
      report(
        rowOf(
          strategy,
          minutes,
          await simulate({ strategy, checkpointMs, outages, runMs, skipsQuiet: true }),
        ),
      );
      // Signals are heard between two runs.
      await setImmediate();
      signal.throwIfAborted();
    }
  }
}

function rowOf(
  { name }: RestartStrategy,
  minutes: number,
  { ledger, failures, accounts }: RunResult,
): Row {
  const wrong = differences(accounts.own, accounts.status);
  if (wrong.length > 0) throw new Error(`${name}, every ${minutes} min: ${wrong.join('; ')}`);
  const hours = SHOWN.map(
    (each) => `${each.toLowerCase()} ${(ledger.ms(each) / HOUR_MS).toFixed(2)}`,
  );
  return {
    benchmark: `${name}, checkpoints every ${minutes} min`,
    unit: '%',
    median: 100 * ledger.effective,
    notes: `${failures} failures; hours: ${hours.join(', ')}`,
  };
}
