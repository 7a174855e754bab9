/**
 * `npm run bench`: a table; `npm run bench -- --json`: one object per row; `npm run bench -- WORD`:
 * only the benchmarks whose name contains it (`--suite WORD` says the same); `--agents N`: the size of
 * the groups of simulated agents. Figures are shown, never asserted: the machine decides.
 */
import { setMaxListeners } from 'node:events';
import { parseArgs } from 'node:util';
import { benchAdmission } from './admission.ts';
import { benchApiServer } from './api-server.ts';
import { benchGroupRestart } from './group-restart.ts';
import { benchHub } from './hub.ts';
import { benchJobController } from './job-controller.ts';
import { benchNodeIdle } from './node-idle.ts';
import { benchNodeRestart } from './node-restart.ts';
import { benchNodeStart } from './node-start.ts';
import { benchPlan } from './plan.ts';
import { type Row, renderRow } from './table.ts';

const BENCHMARKS = {
  admission: benchAdmission,
  'api-server': benchApiServer,
  'group-restart': benchGroupRestart,
  hub: benchHub,
  'job-controller': benchJobController,
  'node-idle': benchNodeIdle,
  'node-restart': benchNodeRestart,
  'node-start': benchNodeStart,
  plan: benchPlan,
} as const;

/** One signal ends many requests, and each listens to it while it lasts. */
const MAX_LISTENERS_PER_SIGNAL = 10_000;

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    suite: { type: 'string', multiple: true, default: [] },
    agents: { type: 'string' },
  },
});
const words = [...positionals, ...values.suite];
const agents = values.agents === undefined ? undefined : Number(values.agents);
if (agents !== undefined && !(Number.isInteger(agents) && agents > 0)) {
  process.stderr.write(`bench: --agents is "${values.agents}", expected a whole number from 1\n`);
  process.exit(2);
}
const chosen = Object.entries(BENCHMARKS).filter(
  ([name]) => words.length === 0 || words.some((word) => name.includes(word)),
);
if (chosen.length === 0) {
  const names = Object.keys(BENCHMARKS).join(', ');
  process.stderr.write(`bench: "${words.join(' ')}" names no benchmark, there are ${names}\n`);
  process.exit(2);
}
const report = (row: Row): void => {
  process.stdout.write(`${values.json ? JSON.stringify(row) : renderRow(row)}\n`);
};
for (const [, run] of chosen) await run(report, { agents });
