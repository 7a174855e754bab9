/** On which versions of Kubernetes the suites run, and what became of each. */
import { parseArgs } from 'node:util';
import { SIGNAL_CODES } from '../exit-code.ts';
import { KUBERNETES_VERSIONS, type KubernetesVersion } from './build.ts';

const OPTIONS = {
  version: { type: 'string' },
  'all-versions': { type: 'boolean' },
} as const;

interface Chosen {
  readonly versions: readonly KubernetesVersion[];
  /** For the test runner. */
  readonly rest: readonly string[];
}

/** The flags about versions may stand anywhere. A string says what is wrong with them. */
export function chosenVersions(args: readonly string[]): Chosen | string {
  const config = { args: [...args], options: OPTIONS, strict: false, tokens: true } as const;
  const { values, tokens } = parseArgs(config);
  const own = tokens.flatMap((token) => {
    if (token.kind !== 'option' || !Object.hasOwn(OPTIONS, token.name)) return [];
    const { index, value, inlineValue } = token;
    return value === undefined || inlineValue ? [index] : [index, index + 1];
  });
  const rest = args.filter((_, index) => !own.includes(index));
  const { version, 'all-versions': all } = values;
  if (all !== undefined && version !== undefined) {
    return '--version and --all-versions exclude each other';
  }
  if (all !== undefined) return { versions: KUBERNETES_VERSIONS, rest };
  if (version === undefined) return { versions: [KUBERNETES_VERSIONS[0]], rest };
  const known = KUBERNETES_VERSIONS.find((each) => each === version);
  if (known !== undefined) return { versions: [known], rest };
  const given = version === true ? 'no value' : `"${version}"`;
  return `--version: ${given}, expected one of ${KUBERNETES_VERSIONS.join(', ')}`;
}

/**
 * Continues after a failure, but not after a signal, and reports one line for each version at the end.
 * `run` resolves with an exit code, or why nothing ran. Resolves with the first code that is not 0.
 */
export async function runOnEach(
  versions: readonly KubernetesVersion[],
  run: (version: KubernetesVersion) => Promise<number | string>,
  report: (line: string) => void,
): Promise<number> {
  const lines: string[] = [];
  let failure = 0;
  for (const version of versions) {
    const startedAt = performance.now();
    const outcome = await run(version);
    const after = `after ${Math.round((performance.now() - startedAt) / 1000)} s`;
    lines.push(`Kubernetes ${version}: ${inWords(outcome)}, ${after}`);
    if (typeof outcome === 'string') continue;
    if (failure === 0) failure = outcome;
    if (outcome > SIGNAL_CODES) break;
  }
  for (const line of lines) report(line);
  return failure;
}

function inWords(outcome: number | string): string {
  if (typeof outcome === 'string') return `skipped (${outcome})`;
  return outcome === 0 ? 'passed' : `FAILED with exit code ${outcome}`;
}
