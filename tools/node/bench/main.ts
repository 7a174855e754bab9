/**
 * Measures restarts on a real node, beside kubernetes-sigs/jobset on the same node:
 *
 *   npm run bench:node -- [--pods 4,16,64] [--kinds supervisor,...] [--restarts 5] [--prepare 0] [--json]
 *
 * A restart is from the SIGKILL of one worker until the last of all workers has started again, by the
 * stamps that the container runtime gives the lines of their logs. `--prepare` is the seconds that each
 * worker takes before it starts. It prints a line for each result, and tables in Markdown at the end;
 * with `--json` one object per result. It fails if a restart in place changes a Pod, or one with
 * `Recreate` keeps one. Figures are shown, never asserted.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { median, type Row, renderRow, spread } from '../../../src/bench/table.ts';
import { connectAdministrator } from '../../../test/node/node.ts';
import { withLockstep, withUpstream } from './controllers.ts';
import { costOf, memoryOfAll } from './costs.ts';
import { measureDelivery } from './delivery.ts';
import { KINDS, type Kind } from './kinds.ts';
import { loadAverage, RunningGroup } from './running-group.ts';
import { type GroupResult, tablesOf } from './tables.ts';

/** The node takes 110 Pods, of which Lockstep's own are some. */
const MAX_COUNT = 100;
const MAX_PREPARE_SECONDS = 60;
const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
/** One signal ends many requests, and each listens to it while it lasts. */
const MAX_LISTENERS_PER_SIGNAL = 1000;
const MIB = 1024 * 1024;
const MINUTE_MS = 60_000;
/** For what a Pod costs while nothing happens. */
const IDLE_MS = 20_000;
/** A group makes fewer restarts than were asked for if they take longer than this. */
const MAX_RESTARTS_MS = 90_000;
const MIN_RESTARTS = 3;

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
process.exitCode = await main();

interface Options {
  readonly pods: readonly number[];
  readonly kinds: readonly string[];
  readonly restarts: number;
  readonly prepare: number;
  readonly json: boolean;
}

async function main(): Promise<number> {
  const options = optionsOf(process.argv.slice(2));
  if (options instanceof Error) {
    process.stderr.write(`bench: ${options.message}\n`);
    return EXIT_USAGE;
  }
  const { client, close } = await connectAdministrator();
  try {
    await measureAll(client, options);
    return 0;
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.stack : String(error)}\n`);
    return EXIT_FAILURE;
  } finally {
    close();
  }
}

function optionsOf(args: readonly string[]): Options | Error {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        pods: { type: 'string', default: '4,16,64' },
        kinds: { type: 'string', default: Object.keys(KINDS).join() },
        restarts: { type: 'string', default: '5' },
        prepare: { type: 'string', default: '0' },
        json: { type: 'boolean', default: false },
      },
    });
    const kinds = values.kinds.split(',');
    const unknown = kinds.find((name) => !Object.hasOwn(KINDS, name));
    if (unknown !== undefined) {
      const known = Object.keys(KINDS).join(', ');
      return new Error(`--kinds has "${unknown}", expected some of ${known}`);
    }
    const pods = values.pods.split(',').map(Number);
    const restarts = Number(values.restarts);
    const isCount = (count: number): boolean =>
      Number.isInteger(count) && count > 0 && count <= MAX_COUNT;
    if (![...pods, restarts].every(isCount)) {
      return new Error(`--pods and --restarts: expected whole numbers from 1 to ${MAX_COUNT}`);
    }
    const prepare = Number(values.prepare);
    if (!(prepare >= 0 && prepare <= MAX_PREPARE_SECONDS)) {
      const expected = `expected seconds, at most ${MAX_PREPARE_SECONDS}`;
      return new Error(`--prepare is "${values.prepare}", ${expected}`);
    }
    return { pods, kinds, restarts, prepare, json: values.json };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function measureAll(client: Client, options: Options): Promise<void> {
  const { json } = options;
  const results: GroupResult[] = [];
  const tell = (row: Row): void => {
    process.stdout.write(`${json ? JSON.stringify(row) : renderRow(row)}\n`);
  };
  const measureKinds = async (controller: Kind['controller']): Promise<void> => {
    for (const name of options.kinds) {
      const kind = KINDS[name];
      if (kind?.controller !== controller) continue;
      for (const size of options.pods) {
        const result = await measureGroup(client, kind, size, options);
        results.push(result);
        for (const row of rowsOf(result)) tell(row);
      }
    }
  };
  await withLockstep(async () => {
    await measureKinds('lockstep');
    if (options.kinds.includes('supervisor')) {
      for (const row of await measureDelivery(client)) tell(row);
    }
  });
  if (options.kinds.some((name) => KINDS[name]?.controller === 'upstream')) {
    await withUpstream(client, () => measureKinds('upstream'));
  }
  if (!json) process.stdout.write(`\n${tablesOf(results)}`);
}

async function measureGroup(
  client: Client,
  kind: Kind,
  size: number,
  { restarts, prepare, pods: sizes }: Options,
): Promise<GroupResult> {
  const group = { name: 'bench', size, prepare };
  const { running, ms: firstStartMs } = await RunningGroup.start(client, kind, group);
  await running.restart(0);
  const before = await uidsOf(running);
  const idle = size === sizes[0] ? await idleCost(running) : undefined;
  const cpuBefore = kind.keepsPods ? await cpuMsOf(running) : 0;
  const times: number[] = [];
  const loads = [Number(loadAverage())];
  const startMs = performance.now();
  for (let round = 1; round <= restarts; round++) {
    if (round > MIN_RESTARTS && performance.now() - startMs > MAX_RESTARTS_MS) break;
    const { ms, load } = await running.restart(round % size);
    times.push(ms);
    loads.push(Number(load));
  }
  const cpuMsPerRestart = kind.keepsPods
    ? ((await cpuMsOf(running)) - cpuBefore) / times.length
    : undefined;
  expectPods(kind, before, await uidsOf(running));
  const memoryMib = memoryOfAll() / MIB;
  const backOffs = await running.backOffs();
  await running.remove();
  return { kind, size, times, loads, firstStartMs, idle, cpuMsPerRestart, memoryMib, backOffs };
}

async function uidsOf(running: RunningGroup): Promise<readonly string[]> {
  return (await running.pods()).map(({ metadata }) => metadata.uid);
}

function expectPods(kind: Kind, before: readonly string[], after: readonly string[]): void {
  const kept = after.filter((uid) => before.includes(uid)).length;
  const expected = kind.keepsPods ? before.length : 0;
  if (kept === expected) return;
  throw new Error(`${kind.title}: ${kept} of ${before.length} Pods were kept, not ${expected}`);
}

/** What one Pod costs: the median of all. */
async function idleCost(running: RunningGroup): Promise<GroupResult['idle']> {
  const before = await cpuMsOf(running);
  await delay(IDLE_MS);
  const cpuMs = (await cpuMsOf(running)) - before;
  const memory = (await costsOf(running)).map(({ memoryBytes }) => memoryBytes);
  return { memoryMib: median(memory) / MIB, cpuMsPerMinute: (cpuMs * MINUTE_MS) / IDLE_MS };
}

async function cpuMsOf(running: RunningGroup): Promise<number> {
  return median((await costsOf(running)).map(({ cpuMs }) => cpuMs));
}

async function costsOf(running: RunningGroup) {
  const pods = await running.pods();
  return pods.map(({ spec, metadata }) => costOf(spec?.nodeName ?? '', metadata.uid));
}

function rowsOf(result: GroupResult): readonly Row[] {
  const { kind, size, times, loads, firstStartMs, memoryMib, backOffs, idle } = result;
  const one = `Pod, ${kind.title}`;
  const load = `load ${Math.min(...loads)} to ${Math.max(...loads)}`;
  const notes =
    `${times.length} restarts, ${load}, first start ${(firstStartMs / 1000).toFixed(1)} s, ` +
    `${memoryMib.toFixed(0)} MiB in all, ${backOffs} of kubelet's BackOff events`;
  return [
    { benchmark: `restart of ${size} Pods, ${kind.title}`, unit: 'ms', ...spread(times), notes },
    ...(idle === undefined
      ? []
      : ([
          { benchmark: `${one}, memory`, unit: 'MiB', median: idle.memoryMib },
          { benchmark: `${one}, CPU a minute while idle`, unit: 'ms', median: idle.cpuMsPerMinute },
        ] as const)),
    ...(result.cpuMsPerRestart === undefined
      ? []
      : ([
          { benchmark: `${one}, CPU a restart`, unit: 'ms', median: result.cpuMsPerRestart },
        ] as const)),
  ];
}
