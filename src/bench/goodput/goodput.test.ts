/** Runs of hours in place of 54 days. */
import { describe, expect, it } from 'vitest';
import type { Row } from '../table.ts';
import { COLD_START_MS, FRAMEWORK_TIMEOUT_MS, STEP_MS, WARM_SHARE } from './costs.ts';
import type { Failure, Outage } from './failures.ts';
import { benchGoodput, STRATEGIES } from './goodput.ts';
import { CLASSES, differences, type TimeClass } from './ledger.ts';
import type { RunResult } from './restart-strategies.ts';
import { simulate } from './simulated-run.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TABLE_MS = 6 * HOUR_MS;

const CRASH: Failure = { kind: 'GPU', isHang: false, luck: 0.5 };
const HANG: Failure = { kind: 'Software', isHang: true, luck: 0.5 };
const MAINTENANCE: Failure = { kind: 'Host maintenance', isHang: false, luck: 0.5 };

function outage(minute: number, first: Failure, relapses: Outage['relapses'] = []): Outage {
  return { atMs: minute * MINUTE_MS, slot: 5, first, relapses };
}

const OUTAGES: readonly Outage[] = [
  outage(7, CRASH, [{ ...CRASH, afterMs: 6 * MINUTE_MS }]),
  outage(24, HANG),
  outage(45, MAINTENANCE),
];

function strategyNamed(name: string) {
  const strategy = STRATEGIES.find((each) => each.name === name);
  if (strategy === undefined) throw new Error(`no strategy has the name ${name}`);
  return strategy;
}

function run(
  name: string,
  outages: readonly Outage[],
  skipsQuiet = true,
  minutes = 10,
): Promise<RunResult> {
  const strategy = strategyNamed(name);
  return simulate({
    strategy,
    checkpointMs: minutes * MINUTE_MS,
    outages,
    runMs: HOUR_MS,
    skipsQuiet,
  });
}

function minutesOf({ ledger }: RunResult, of: TimeClass): number {
  return ledger.ms(of) / MINUTE_MS;
}

describe('an hour', () => {
  it.each([
    ...STRATEGIES.map(({ name }) => [name, 10] as const),
    ['In place', 1],
    ['In place', 30],
  ] as const)(
    'is the same with quiet time added up as with all of it simulated: %s, %i min',
    async (name, minutes) => {
      const added = await run(name, OUTAGES, true, minutes);
      const simulated = await run(name, OUTAGES, false, minutes);
      for (const each of CLASSES) {
        expect([each, added.ledger.ms(each)]).toEqual([each, simulated.ledger.ms(each)]);
      }
      expect(added.failures).toBe(4);
      expect(added.status).toEqual(simulated.status);
      expect(added.ledger.elapsedMs).toBe(HOUR_MS);
    },
  );

  it('without failures is productive but for its start', async () => {
    const quiet = await run('In place', []);
    expect(quiet.failures).toBe(0);
    const startMs = COLD_START_MS + STEP_MS;
    expect(quiet.ledger.ms('Starting') - startMs).toBeLessThan(100);
    expect(quiet.ledger.ms('Lost')).toBe(0);
  });

  it('loses what a crash leaves since the last checkpoint, and restarts within a second', async () => {
    // The first steps take 6 s each, so that the checkpoint of 10 minutes is of about 10:11.
    const crashed = await run('In place', [outage(15, CRASH)]);
    expect(minutesOf(crashed, 'Lost')).toBeCloseTo(5 - 11 / 60, 0);
    expect(crashed.ledger.ms('Restarting')).toBeLessThan(1000);
    expect(crashed.status.deprecatedEpoch).toBe(1);
  });

  it('waits for the time-out of the framework, unless hangs are found', async () => {
    const waits = await run('In place', [outage(24, HANG)]);
    const finds = await run('and hangs found', [outage(24, HANG)]);
    expect(waits.ledger.ms('Hung')).toBe(0);
    expect(minutesOf(finds, 'Hung')).toBeCloseTo(1, 1);
    const savedMs = finds.ledger.ms('Productive') - waits.ledger.ms('Productive');
    expect(savedMs / MINUTE_MS).toBeCloseTo(FRAMEWORK_TIMEOUT_MS / MINUTE_MS - 1, 0);
    expect(finds.status.restartHistory?.[0]?.witness?.reason).toBe('WorkerHung');
  });

  it('starts warm, unless a Pod is new', async () => {
    const starts = async (name: string, failure: Failure): Promise<number> =>
      (await run(name, [outage(15, failure)])).ledger.ms('Starting');
    const coldMs = await starts('and hangs found', CRASH);
    const savedMs = coldMs - (await starts('and warm standby', CRASH));
    expect(savedMs).toBe(Math.round((1 - WARM_SHARE) * COLD_START_MS));
    expect(await starts('and warm standby', MAINTENANCE)).toBe(
      await starts('and hangs found', MAINTENANCE),
    );
  });

  it('sees a bad node left after its third failure', async () => {
    const relapses = Array.from({ length: 7 }, () => ({ ...CRASH, afterMs: 6 * MINUTE_MS }));
    const bad = [outage(3, CRASH, relapses)];
    expect((await run('and warm standby', bad)).failures).toBe(8);
    const left = await run('and bad nodes left', bad);
    expect(left.failures).toBe(3);
    const avoided = left.status.avoidedNodes?.map(({ node }) => node);
    expect(avoided).toEqual(['node-5']);
  });

  it('is accounted for in the status as it is here', async () => {
    const { accounts } = await run('and hangs found', OUTAGES);
    expect(differences(accounts.own, accounts.status)).toEqual([]);
    const empty = CLASSES.filter((each) => accounts.status[each] === 0);
    expect(empty).toEqual([]);
    const other = { ...accounts.status, Lost: accounts.status.Lost * 1.005 };
    expect(differences(accounts.own, other)).toEqual([expect.stringMatching(/^Lost is \d+ ms/)]);
  });

  it('names the member that failed, and the Pod that was taken away', async () => {
    const { status } = await run('In place', [outage(15, CRASH), outage(40, MAINTENANCE)]);
    const suspects = status.restartHistory?.map((record) => record.suspects);
    expect(suspects).toEqual([
      [expect.objectContaining({ completionIndex: 5, why: 'its Pod is gone' })],
      [expect.objectContaining({ completionIndex: 5, node: 'node-5', confidence: 'Certain' })],
    ]);
  });
});

describe('the table', () => {
  /** Its first rows. */
  const table = async (seed: number, count: number): Promise<readonly Row[]> => {
    const rows: Row[] = [];
    const enough = new AbortController();
    const report = (row: Row): void => {
      if (rows.push(row) === count) enough.abort(new Error('enough'));
    };
    const bench = benchGoodput(report, { seed, signal: enough.signal, runMs: TABLE_MS });
    await expect(bench).rejects.toThrow('enough');
    return rows;
  };

  it('is the same for one seed, and another for another', async () => {
    const all = 3 * STRATEGIES.length;
    // The fourth row is the first of a restart in place.
    const [first, again, other] = [await table(1, all), await table(1, 4), await table(2, 4)];
    expect(first).toHaveLength(all);
    expect(again).toEqual(first.slice(0, 4));
    expect(other).not.toEqual(again);
  });

  it('ends between two runs when it is told to', async () => {
    expect(await table(1, 1)).toHaveLength(1);
  });
});
