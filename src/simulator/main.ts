/**
 * Runs groups in the simulated world, with faults by chance. A seed that violates a property is
 * printed with a shorter scenario that does so too, and with the last things that happened. Or it
 * visits every state of a small group, or predicts restarts of large ones. Exit codes: 0 all
 * properties held, 1 one did not, or there were too many states, 2 wrong usage.
 */
import { setMaxListeners } from 'node:events';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { TraceLine } from '../dashboard/messages/trace.ts';
import {
  type ExploredGroup,
  readArguments,
  type SimulateArguments,
  USAGE,
} from './adapters/arguments.ts';
import {
  runInProcesses,
  SEED_PROCESS,
  type SeedResult,
  serveSeeds,
} from './adapters/seed-processes.ts';
import { explore, MAX_STATES, type TransitionSystem } from './exhaustive/explorer.ts';
import { SmallGroup } from './exhaustive/group.ts';
import { RecreatedJobs } from './exhaustive/recreated-jobs.ts';
import { inWords } from './history.ts';
import { disturbDecisions } from './mutations/decision-points.ts';
import type { Finding } from './mutations/final-state.ts';
import { type TrialFigures, tryMutations } from './mutations/trials.ts';
import { parseScenario } from './parse-scenario.ts';
import {
  PredictedGroup,
  type Prediction,
  type PredictionOptions,
} from './predict/predicted-group.ts';
import { DOCUMENTED, reportOf } from './predict/report.ts';
import { type RunResult, runScenario } from './run.ts';
import { type Scenario, scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';

const EXIT_USAGE = 2;
/** One signal ends all requests of a process. */
const MAX_LISTENERS_PER_SIGNAL = 1000;
const SHOWN_LINES = 50;
const REPORT_EVERY_MS = 10_000;

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
if (process.argv[2] === SEED_PROCESS) serveSeeds(runScenario);
else process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let given: SimulateArguments;
  let scenario: Scenario | undefined;
  let trace: number | undefined;
  try {
    given = readArguments(args);
    const { isHelp, seed, file, options } = given;
    if (isHelp) {
      process.stdout.write(USAGE);
      return 0;
    }
    if (file !== undefined) scenario = parseScenario(readFileSync(file, 'utf8'), file);
    else if (seed !== undefined) scenario = scenarioOf(seed, options);
    if (given.trace !== undefined) trace = openSync(given.trace, 'w');
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    return EXIT_USAGE;
  }
  const { explored, predictions } = given;
  if (explored.length > 0) return exploreAll(explored);
  if (predictions !== undefined) {
    return predicted(predictions.length === 0 ? DOCUMENTED : predictions);
  }
  if (given.systematic !== undefined) return systematic(given.systematic, given.only);
  return scenario === undefined ? many(given) : single(scenario, given, trace);
}

/** What this process took goes to standard error: the same groups give the same bytes on standard output. */
async function predicted(groups: readonly PredictionOptions[]): Promise<number> {
  const predictions: Prediction[] = [];
  let group: PredictedGroup | undefined;
  for (const [at, options] of groups.entries()) {
    const { members } = options;
    const isNew = members !== groups[at - 1]?.members;
    const startMs = performance.now();
    if (isNew) {
      await group?.stop();
      group = await PredictedGroup.started(members);
    }
    const runMs = performance.now();
    const before = process.cpuUsage();
    if (group !== undefined) predictions.push(await group.restart(options));
    const { user, system } = process.cpuUsage(before);
    const peakMib = Math.round(process.resourceUsage().maxRSS / 1024);
    process.stderr.write(
      `${members} members in this process: ${isNew ? `started in ${seconds(runMs - startMs)}, ` : ''}` +
        `restarted in ${seconds(performance.now() - runMs)} with ${seconds((user + system) / 1000)} ` +
        `of CPU, ${peakMib} MiB at most so far\n`,
    );
  }
  await group?.stop();
  process.stdout.write(reportOf(predictions));
  return 0;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

async function systematic(which: 'Mutations' | 'Decisions', only: string): Promise<number> {
  const startMs = performance.now();
  let tried = 0;
  let findings = 0;
  const options = {
    chooses: (name: string) => name.includes(only),
    found: ({ name, why }: Finding) => {
      findings++;
      print(['', name, ...why].join('\n  '));
    },
  };
  if (which === 'Decisions') {
    const told = (story: string, points: number, runs: number): void => {
      tried += runs;
      print(`${story}: ${points} decision points, ${runs} runs`);
    };
    await disturbDecisions({ ...options, told });
  } else {
    const told = (phase: string, figures: TrialFigures): void => {
      const { refused, meaningless, same, told: known, different } = figures;
      tried += refused + meaningless + same + known + different;
      const accepted = `${same} as a new one, ${known} different as documented, ${meaningless} without meaning`;
      print(`${phase}: ${refused} refused by name, ${accepted}, ${different} findings`);
    };
    await tryMutations({ ...options, told });
  }
  if (tried === 0) throw new Error(`--only: nothing has "${only}" in its name`);
  print(`${tried} tried, ${findings} findings, ${seconds(performance.now() - startMs)}`);
  return findings === 0 ? 0 : 1;
}

/** `trace`: the descriptor of a file. An interrupted run leaves all lines until then in it. */
async function single(
  scenario: Scenario,
  given: SimulateArguments,
  trace: number | undefined,
): Promise<number> {
  const write = (line: TraceLine): void => {
    if (trace !== undefined) writeSync(trace, `${JSON.stringify(line)}\n`);
  };
  const result = await runScenario(scenario, trace === undefined ? {} : { trace: write });
  if (trace === undefined) print(result.events.map(inWords).join('\n'));
  else closeSync(trace);
  return result.violation === undefined ? 0 : tellViolation(scenario, result, given);
}

/** How far it is, and how fast, goes to standard error: the same seeds give the same bytes on standard output. */
async function many(given: SimulateArguments): Promise<number> {
  const { seeds, jobs, options } = given;
  const startMs = performance.now();
  let reportMs = startMs;
  let count = 0;
  let simulatedMs = 0;
  let epochs = 0;
  const sums = (): string =>
    `${count} seeds, ${epochs} epochs, ${(simulatedMs / 3_600_000).toFixed(1)} hours of simulated time`;
  const held = (result: SeedResult): void => {
    count++;
    simulatedMs += result.simulatedMs;
    epochs += result.epochs;
    if (performance.now() - reportMs < REPORT_EVERY_MS) return;
    reportMs = performance.now();
    process.stderr.write(`${sums()} so far\n`);
  };
  const scenarioFor = (seed: number): Scenario => scenarioOf(seed, options);
  try {
    const lowest = await runInProcesses(seeds, { jobs, scenarioOf: scenarioFor, held });
    if (lowest !== undefined) {
      const scenario = scenarioFor(lowest);
      return await tellViolation(scenario, await runScenario(scenario), given);
    }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  }
  print(sums());
  const tookMs = performance.now() - startMs;
  const speed = Math.round(simulatedMs / tookMs);
  process.stderr.write(`${speed} times as fast, ${seconds(tookMs)} in ${jobs} processes\n`);
  return 0;
}

function systemOf({ mode, ...group }: ExploredGroup): TransitionSystem {
  return mode === 'Recreate' || mode === 'BlockingRecreate'
    ? new RecreatedJobs({ ...group, strategy: mode })
    : new SmallGroup({ ...group, mode });
}

function exploreAll(groups: readonly ExploredGroup[]): number {
  for (const group of groups) {
    const startMs = performance.now();
    const { states, transitions, isCut, violation, trace } = explore(systemOf(group));
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    const { members, mode, faults } = group;
    const visited = `${states} states and ${transitions} transitions in ${seconds} s`;
    print(`${members} members, ${mode}, at most ${faults} faults: ${visited}`);
    if (violation !== undefined) {
      print(`violates "${violation.property}": ${violation.detail}\n${trace.join('\n')}`);
      return 1;
    }
    if (isCut) {
      print(`there are more states than ${MAX_STATES}: none of those visited violates a property`);
      return 1;
    }
    print('all properties hold');
  }
  return 0;
}

async function tellViolation(
  scenario: Scenario,
  result: RunResult,
  { isShrunk }: SimulateArguments,
): Promise<number> {
  const { property, detail } = result.violation ?? { property: '', detail: '' };
  print(`seed ${scenario.seed} violates "${property}": ${detail}`);
  if (!isShrunk) return 1;
  print('looking for a shorter scenario ...');
  const shrunk = await shrink(scenario, result);
  print(`the shortest that was found:\n${JSON.stringify(shrunk.scenario, undefined, 2)}`);
  print(
    `its last ${SHOWN_LINES} events:\n${shrunk.result.events.slice(-SHOWN_LINES).map(inWords).join('\n')}`,
  );
  return 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
