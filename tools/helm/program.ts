/** Helm itself, with which tests render and install the chart. */
import { join } from 'node:path';
import { buildProgram, type GoProgram, isProgramBuilt, moduleFileFor } from '../go-program.ts';

const MODULE = 'helm.sh/helm/v4';
const VERSION = 'v4.3.1';

const HELM: GoProgram = {
  name: 'helm',
  version: VERSION,
  main: { package: `${MODULE}/cmd/helm` },
  variables: { [`${MODULE}/internal/version.version`]: VERSION },
  moduleFile: () => moduleFileFor(MODULE, VERSION),
};

/** Whether nothing is left to build, so that neither Go nor the network is needed. */
export function isHelmBuilt(): boolean {
  return isProgramBuilt(HELM);
}

/** The path of the program, which is built if it is missing. */
export async function buildHelm(report: (message: string) => void): Promise<string> {
  return join(await buildProgram(HELM, report), HELM.name);
}
