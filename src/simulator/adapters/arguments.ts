/** The flags of `npm run simulate`. */
import { parseArgs } from 'node:util';
import { ACT_KINDS, type ActKind, type ScenarioOptions } from '../scenario.ts';

const DEFAULT_SEEDS = '100';
const MAX_SEEDS = 10_000_000;
const MAX_MEMBERS = 1000;
/** A day. */
const MAX_MINUTES = 1440;

export const USAGE = `npm run simulate -- [--seeds N | --seed S | --scenario FILE] [--members N] [--minutes M] [--faults LIST] [--trace FILE] [--no-shrink]

  --seeds N        runs the seeds from 1 to N; by default ${DEFAULT_SEEDS}
  --seed S         runs this seed alone, and prints all that happens; not beside --scenario
  --scenario FILE  runs a scenario as a violation printed it, in JSON
  --members N      members of the group, 1 to ${MAX_MEMBERS}; by default 2 to 8, as the seed has it
  --minutes M      how long something happens, 1 to ${MAX_MINUTES}; by default 10
  --trace FILE     with --seed or --scenario: writes all that happens to this file, as lines of JSON
  --no-shrink      prints a seed that violates a property as it is
  --faults LIST    only these, with commas between them: ${ACT_KINDS.join(', ')}
`;

export interface SimulateArguments {
  readonly isHelp: boolean;
  readonly seeds: number;
  readonly seed: number | undefined;
  /** The path of a scenario in JSON. */
  readonly file: string | undefined;
  /** Where to write all that happens in one run, instead of printing it. */
  readonly trace: string | undefined;
  /** Whether to look for a shorter scenario. */
  readonly isShrunk: boolean;
  readonly options: ScenarioOptions;
}

/** Throws an error whose message names the flag, its value and what was expected. */
export function readArguments(args: readonly string[]): SimulateArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: DEFAULT_SEEDS },
      seed: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
      scenario: { type: 'string' },
      members: { type: 'string' },
      minutes: { type: 'string' },
      faults: { type: 'string' },
      trace: { type: 'string' },
      'no-shrink': { type: 'boolean', default: false },
    },
  });
  const { seed, scenario, members, minutes, faults, trace } = values;
  const isDrawn = [seed, members, minutes, faults].some((value) => value !== undefined);
  if (scenario !== undefined && isDrawn) {
    throw new Error('--scenario: it has its own members, times and faults; expected no other flag');
  }
  if (trace !== undefined && seed === undefined && scenario === undefined) {
    throw new Error('--trace: expected --seed or --scenario beside it');
  }
  return {
    seeds: numberOf('seeds', values.seeds, MAX_SEEDS),
    seed: seed === undefined ? undefined : numberOf('seed', seed, Number.MAX_SAFE_INTEGER),
    isHelp: values.help,
    file: scenario,
    trace,
    isShrunk: !values['no-shrink'],
    options: {
      members: members === undefined ? undefined : numberOf('members', members, MAX_MEMBERS),
      minutes: minutes === undefined ? undefined : numberOf('minutes', minutes, MAX_MINUTES),
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
