/**
 * Runs the benchmarks. `npm run bench` prints a table, `npm run bench -- --json` one object per
 * row. `npm run bench -- WORD` (or `--suite WORD`) runs only the benchmarks whose name contains it.
 * `--agents N`, which may be repeated, sets the sizes of groups; `--kubeconfig FILE` uses a running
 * cluster; `--phase NAME` limits the suites `hub`, `fail-over` and `group-restart` to that part;
 * `--seed N` draws other failures for `goodput`; `--annotation NAME=VALUE`, which may be repeated,
 * stands on the JobSet of `group-restart`, to show what a feature costs; `--processes N` lets agents
 * start N processes in each Pod there, which is the supervisor variant alone.
 * Figures are shown, never asserted, because they depend on the machine.
 */
import { setMaxListeners } from 'node:events';
import { parseArgs } from 'node:util';
import { onTermination } from '../cli/termination.ts';
import { MAX_PROCESSES_PER_POD } from '../jobset/ranks/processes-per-pod.ts';
import { benchAdmission } from './admission.ts';
import { benchApiServer } from './api-server.ts';
import { benchDashboard } from './dashboard/dashboard.ts';
import { benchFailOver, FAIL_OVER_PHASES } from './fail-over.ts';
import { benchGoodput } from './goodput/goodput.ts';
import { benchGroupRestart, VARIANT_NAMES } from './group-restart/group-restart.ts';
import { benchHang } from './hang.ts';
import { benchHostile } from './hostile/hostile.ts';
import { benchHub, PHASE_NAMES } from './hub.ts';
import { benchJobController } from './job-controller.ts';
import { benchNodeIdle } from './node/node-idle.ts';
import { benchNodeRestart } from './node/node-restart.ts';
import { benchNodeStart } from './node/node-start.ts';
import { benchPlan } from './plan.ts';
import { type Row, renderRow } from './table.ts';

const BENCHMARKS = {
  admission: { run: benchAdmission, joins: false },
  'api-server': { run: benchApiServer, joins: false },
  dashboard: { run: benchDashboard, joins: false },
  'fail-over': { run: benchFailOver, joins: true },
  goodput: { run: benchGoodput, joins: false },
  'group-restart': { run: benchGroupRestart, joins: true },
  hang: { run: benchHang, joins: false },
  hostile: { run: benchHostile, joins: false },
  hub: { run: benchHub, joins: true },
  'job-controller': { run: benchJobController, joins: false },
  'node-idle': { run: benchNodeIdle, joins: false },
  'node-restart': { run: benchNodeRestart, joins: false },
  'node-start': { run: benchNodeStart, joins: false },
  plan: { run: benchPlan, joins: false },
} as const;

/** One signal ends many requests, and each listens to it while it lasts. */
const MAX_LISTENERS_PER_SIGNAL = 10_000;
const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
process.exitCode = await main();

async function main(): Promise<number> {
  const parsed = parsedArguments();
  if (parsed instanceof Error) return refuse(parsed.message);
  const { values, positionals } = parsed;
  const { kubeconfig } = values;
  const words = [...positionals, ...values.suite];
  const agents = values.agents?.map(Number);
  const wrong = agents?.findIndex((size) => !(Number.isInteger(size) && size > 0)) ?? -1;
  if (wrong >= 0) {
    return refuse(`--agents is "${values.agents?.[wrong]}", expected a whole number from 1`);
  }
  const seed = Number(values.seed);
  if (!(Number.isSafeInteger(seed) && seed >= 0)) {
    return refuse(`--seed is "${values.seed}", expected a whole number from 0`);
  }
  const phases = values.phase;
  const parts = [...PHASE_NAMES, ...VARIANT_NAMES, ...FAIL_OVER_PHASES];
  const unknown = phases?.find((name) => !parts.includes(name));
  if (unknown !== undefined) {
    return refuse(`--phase is "${unknown}", expected one of ${parts.join(', ')}`);
  }
  const processes = values.processes === undefined ? undefined : Number(values.processes);
  if (processes !== undefined && !(processes >= 1 && processes <= MAX_PROCESSES_PER_POD)) {
    return refuse(`--processes is "${values.processes}", expected 1 to ${MAX_PROCESSES_PER_POD}`);
  }
  const annotations = Object.fromEntries(values.annotation.map(assignment));
  if ('' in annotations) {
    return refuse(`--annotation is "${annotations['']}", expected NAME=VALUE`);
  }
  const able = Object.entries(BENCHMARKS).filter(
    ([, { joins }]) => joins || kubeconfig === undefined,
  );
  const chosen = able.filter(
    ([name]) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  if (chosen.length === 0) {
    const names = able.map(([name]) => name).join(', ');
    const where = kubeconfig === undefined ? '' : ' that runs on the cluster of a kubeconfig';
    return refuse(`"${words.join(' ')}" names no benchmark${where}, there are ${names}`);
  }
  const report = (row: Row): void => {
    process.stdout.write(`${values.json ? JSON.stringify(row) : renderRow(row)}\n`);
  };
  const termination = onTermination();
  const { signal } = termination;
  try {
    for (const [, { run }] of chosen)
      await run(report, { agents, annotations, kubeconfig, phases, processes, seed, signal });
    return 0;
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
    return termination.exitCode() ?? EXIT_FAILURE;
  } finally {
    termination.dispose();
  }
}

function parsedArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        suite: { type: 'string', multiple: true, default: [] },
        agents: { type: 'string', multiple: true },
        kubeconfig: { type: 'string' },
        processes: { type: 'string' },
        phase: { type: 'string', multiple: true },
        seed: { type: 'string', default: '1' },
        annotation: { type: 'string', multiple: true, default: [] },
      },
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Name and value; without a name, the whole text is the value. */
function assignment(text: string): [string, string] {
  const at = text.indexOf('=');
  return at < 1 ? ['', text] : [text.slice(0, at), text.slice(at + 1)];
}

function refuse(problem: string): number {
  tell(problem);
  return EXIT_USAGE;
}

function tell(problem: string): void {
  for (const line of problem.split('\n')) process.stderr.write(`bench: ${line}\n`);
}
