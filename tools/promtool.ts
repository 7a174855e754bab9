/** Prometheus' own engine for alerting rules, with which a test evaluates ours. */
import { join } from 'node:path';
import { buildProgram, type GoProgram, isProgramBuilt, moduleFileFor } from './go-program.ts';

const MODULE = 'github.com/prometheus/prometheus';
const VERSION = 'v0.316.0';

const PROMTOOL: GoProgram = {
  name: 'promtool',
  version: VERSION,
  main: { package: `${MODULE}/cmd/promtool` },
  variables: {},
  moduleFile: () => moduleFileFor(MODULE, VERSION),
};

/** Whether nothing is left to build, so that neither Go nor the network is needed. */
export function isPromtoolBuilt(): boolean {
  return isProgramBuilt(PROMTOOL);
}

/** The path of the program, which is built if it is missing. */
export async function buildPromtool(report: (message: string) => void): Promise<string> {
  return join(await buildProgram(PROMTOOL, report), PROMTOOL.name);
}
