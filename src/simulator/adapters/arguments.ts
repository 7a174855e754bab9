/** The flags of `npm run simulate`. */
import { parseArgs } from 'node:util';
import { ACT_KINDS, type ActKind, type ScenarioOptions } from '../scenario.ts';

export const USAGE = `npm run simulate -- [--seeds N | --seed S | --scenario FILE] [--members N] [--minutes M] [--faults LIST] [--no-shrink]

  --seeds N        runs the seeds from 1 to N; by default 100
  --seed S         runs this seed alone, and prints all that happens
  --scenario FILE  runs a scenario as a violation printed it, in JSON
  --members N      members of the group, 1 to ${1000}; by default 2 to 8, as the seed has it
  --minutes M      how long something happens, 1 to 1440; by default 10
  --no-shrink      prints a seed that violates a property as it is
  --faults LIST    only these, with commas between them: ${ACT_KINDS.join(', ')}
`;

export interface SimulateArguments {
  readonly seeds: number;
  readonly seed: number | undefined;
  /** The path of a scenario in JSON. */
  readonly file: string | undefined;
  /** Whether to look for a shorter scenario. */
  readonly isShrunk: boolean;
  readonly options: ScenarioOptions;
}

/** Throws an error whose message names the flag, its value and what was expected. */
export function readArguments(args: readonly string[]): SimulateArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '100' },
      seed: { type: 'string' },
      scenario: { type: 'string' },
      members: { type: 'string' },
      minutes: { type: 'string' },
      faults: { type: 'string' },
      'no-shrink': { type: 'boolean', default: false },
    },
  });
  const { seed, scenario, members, minutes, faults } = values;
  return {
    seeds: numberOf('seeds', values.seeds, 10_000_000),
    seed: seed === undefined ? undefined : numberOf('seed', seed, Number.MAX_SAFE_INTEGER),
    file: scenario,
    isShrunk: !values['no-shrink'],
    options: {
      members: members === undefined ? undefined : numberOf('members', members, 1000),
      minutes: minutes === undefined ? undefined : numberOf('minutes', minutes, 1440),
      kinds: faults === undefined ? undefined : kindsOf(faults),
    },
  };
}

function numberOf(flag: string, text: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Error(`--${flag}: "${text}", expected a whole number from 1 to ${max}`);
}

function kindsOf(list: string): readonly ActKind[] {
  return list.split(',').map((name) => {
    const kind = ACT_KINDS.find((each) => each === name.trim());
    if (kind !== undefined) return kind;
    throw new Error(`--faults: "${name}", expected some of ${ACT_KINDS.join(', ')}`);
  });
}
