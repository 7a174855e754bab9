/**
 * `npm run bench`: a table; `npm run bench -- --json`: one object per row; `npm run bench -- WORD`:
 * only the benchmarks whose name contains it. Figures are shown, never asserted: the machine decides.
 */
import { setMaxListeners } from 'node:events';
import { benchAdmission } from './admission.ts';
import { benchApiServer } from './api-server.ts';
import { benchGroupRestart } from './group-restart.ts';
import { benchPlan } from './plan.ts';
import { type Row, renderRow } from './table.ts';

const BENCHMARKS = {
  admission: benchAdmission,
  'api-server': benchApiServer,
  'group-restart': benchGroupRestart,
  plan: benchPlan,
} as const;

/** One signal ends many requests, and each listens to it while it lasts. */
const MAX_LISTENERS_PER_SIGNAL = 10_000;

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
const flags = process.argv.slice(2);
const isJson = flags.includes('--json');
const words = flags.filter((flag) => flag !== '--json');
const chosen = Object.entries(BENCHMARKS).filter(
  ([name]) => words.length === 0 || words.some((word) => name.includes(word)),
);
if (chosen.length === 0) {
  const names = Object.keys(BENCHMARKS).join(', ');
  process.stderr.write(`bench: "${words.join(' ')}" names no benchmark, there are ${names}\n`);
  process.exit(2);
}
const report = (row: Row): void => {
  process.stdout.write(`${isJson ? JSON.stringify(row) : renderRow(row)}\n`);
};
for (const [, run] of chosen) await run(report);
