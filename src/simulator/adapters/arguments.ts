/** The flags of `npm run simulate`. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Mode } from '../exhaustive/member.ts';
import type { RecreateStrategy } from '../exhaustive/recreated-jobs.ts';
import {
  MAX_COMPLETIONS,
  MAX_PREDICTED_MEMBERS,
  type PredictionOptions,
} from '../predict/predicted-group.ts';
import { ACT_KINDS, type ActKind, type ScenarioOptions } from '../scenario.ts';
import type { SeedRange } from './seed-processes.ts';

const DEFAULT_SEEDS = '100';
const MAX_SEEDS = 10_000_000;
/** Each takes some 150 MB. */
const MAX_JOBS = 64;
const MAX_MEMBERS = 1000;
/** A day. */
const MAX_MINUTES = 1440;
const MODES = ['Supervisor', 'Sidecar', 'Recreate', 'BlockingRecreate'] as const;
const DEFAULT_EXPLORED = '2';
/** With more of either, no machine visits all states. */
const MAX_EXPLORED = 4;
const MAX_OPERATORS = 64;
const MAX_SLOWER = 100;

export const USAGE = `npm run simulate -- [--seeds N | --seed S | --scenario FILE] [--jobs N] [--members N] [--minutes M] [--faults LIST] [--trace FILE] [--no-shrink]
npm run simulate -- --exhaustive [--members N] [--faults-at-most N] [--mode MODE]
npm run simulate -- --predict [--members N,N,...] [--operators N] [--slower X]
npm run simulate -- --mutations | --decisions [--only TEXT]
npm run simulate -- --planted [--only TEXT] [--seeds N]

  --seeds N        runs the seeds from 1 to N, or with A-B those from A to B; by default ${DEFAULT_SEEDS}
  --jobs N         so many at a time, 1 to ${MAX_JOBS}; by default as many as there are processors
  --seed S         runs this seed alone, and prints all that happens; not beside --scenario
  --scenario FILE  runs a scenario as a violation printed it, in JSON
  --members N      members of the group, 1 to ${MAX_MEMBERS}; by default 2 to 8, as the seed has it
  --minutes M      how long something happens, 1 to ${MAX_MINUTES}; by default 10
  --trace FILE     with --seed or --scenario: writes all that happens to this file, for "lockstep dashboard --trace FILE"
  --no-shrink      prints a seed that violates a property as it is
  --mutations      changes a live JobSet in each phase, and compares it with a new one of the same spec
  --decisions      lets the operator die, or see less, at each of its writes
  --planted        plants one bug after the other, and looks whether its seed, or one of --seeds, finds it
  --only TEXT      with --mutations, --decisions or --planted: those with this text in their names
  --faults LIST    only these, with commas between them: ${ACT_KINDS.join(', ')}

  --exhaustive     visits every state of one small group, by the planner and the barrier alone
  --members N      members of that group, 1 to ${MAX_EXPLORED}; by default ${DEFAULT_EXPLORED}
  --faults-at-most N  faults before it comes to rest, 0 to ${MAX_EXPLORED}; by default ${DEFAULT_EXPLORED}
  --mode MODE      how it restarts: ${MODES.join(', ')}; by default one after the other
  --predict        predicts a restart of large groups, without faults; by default of the documented sizes
  --members N,...  their sizes, 1 to ${MAX_PREDICTED_MEMBERS}
  --operators N    replicas of the operator that share the streams, 1 to ${MAX_OPERATORS}; by default 1, as it is
  --slower X       the operator's CPU takes X times as long, above 0 to ${MAX_SLOWER}; by default 1
`;

export interface SimulateArguments {
  readonly isHelp: boolean;
  readonly seeds: SeedRange;
  /** How many of them are run at a time. */
  readonly jobs: number;
  readonly seed: number | undefined;
  /** The path of a scenario in JSON. */
  readonly file: string | undefined;
  /** Where to write all that happens in one run, instead of printing it. */
  readonly trace: string | undefined;
  /** Whether to look for a shorter scenario. */
  readonly isShrunk: boolean;
  readonly options: ScenarioOptions;
  /** The small groups whose states are all visited, instead of any seed. */
  readonly explored: readonly ExploredGroup[];
  /** The groups to predict; empty: the documented sizes. Undefined: none, seeds are run. */
  readonly predictions: readonly PredictionOptions[] | undefined;
  /** Instead of seeds. */
  readonly systematic: 'Mutations' | 'Decisions' | undefined;
  /** Which of them to try, by a part of their names. */
  readonly only: string;
}

export interface ExploredGroup {
  readonly members: number;
  /** Agents of which mode restart it in place, or how its Jobs are recreated. */
  readonly mode: Mode | RecreateStrategy;
  /** At most so many happen. */
  readonly faults: number;
}

/** Throws an error whose message names the flag, its value and what was expected. */
export function readArguments(args: readonly string[]): SimulateArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      jobs: { type: 'string' },
      seed: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
      scenario: { type: 'string' },
      members: { type: 'string' },
      minutes: { type: 'string' },
      faults: { type: 'string' },
      trace: { type: 'string' },
      exhaustive: { type: 'boolean', default: false },
      'faults-at-most': { type: 'string' },
      mode: { type: 'string' },
      predict: { type: 'boolean', default: false },
      operators: { type: 'string' },
      slower: { type: 'string' },
      'no-shrink': { type: 'boolean', default: false },
      mutations: { type: 'boolean', default: false },
      decisions: { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  });
  const { seeds = DEFAULT_SEEDS, seed, scenario, members, minutes, faults, trace } = values;
  const { jobs, mutations, decisions, only } = values;
  const explored = exploredBy(values);
  const predictions = predictionsOf(values);
  const isDrawn = [seed, members, minutes, faults].some((value) => value !== undefined);
  if (scenario !== undefined && isDrawn) {
    throw new Error('--scenario: it has its own members, times and faults; expected no other flag');
  }
  if (trace !== undefined && seed === undefined && scenario === undefined) {
    throw new Error('--trace: expected --seed or --scenario beside it');
  }
  const isSystematic = mutations || decisions;
  const given = [values.seeds, jobs, scenario, trace].some((value) => value !== undefined);
  if (
    isSystematic &&
    ((mutations && decisions) ||
      isDrawn ||
      given ||
      values['no-shrink'] ||
      values.exhaustive ||
      values.predict)
  ) {
    throw new Error('--mutations, --decisions: expected one of them, and no other flag but --only');
  }
  if (only !== undefined && !isSystematic) {
    throw new Error('--only: expected --mutations or --decisions beside it');
  }
  return {
    systematic: mutations ? 'Mutations' : decisions ? 'Decisions' : undefined,
    only: only ?? '',
    seeds: rangeOf(seeds),
    jobs:
      jobs === undefined
        ? Math.min(availableParallelism(), MAX_JOBS)
        : numberOf('jobs', jobs, MAX_JOBS),
    seed: seed === undefined ? undefined : numberOf('seed', seed, Number.MAX_SAFE_INTEGER),
    isHelp: values.help,
    file: scenario,
    trace,
    isShrunk: !values['no-shrink'],
    explored,
    predictions,
    options: {
      members:
        members === undefined || predictions !== undefined
          ? undefined
          : numberOf('members', members, MAX_MEMBERS),
      minutes: minutes === undefined ? undefined : numberOf('minutes', minutes, MAX_MINUTES),
      kinds: faults === undefined ? undefined : kindsOf(faults),
    },
  };
}

type Given = Readonly<Record<string, string | boolean | undefined>>;

function exploredBy(values: Given): readonly ExploredGroup[] {
  const only = ['faults-at-most', 'mode'].find((flag) => values[flag] !== undefined);
  if (values['exhaustive'] !== true) {
    if (only !== undefined) throw new Error(`--${only}: expected --exhaustive beside it`);
    return [];
  }
  const other = ['seeds', 'jobs', 'seed', 'scenario', 'minutes', 'faults', 'trace'].find(
    (flag) => values[flag] !== undefined,
  );
  if (other !== undefined) {
    throw new Error(`--${other}: expected no such flag beside --exhaustive, which draws nothing`);
  }
  const { mode, members = DEFAULT_EXPLORED } = values;
  const faults = values['faults-at-most'] ?? DEFAULT_EXPLORED;
  const chosen = MODES.filter((each) => mode === undefined || mode === each);
  if (chosen.length === 0)
    throw new Error(`--mode: "${mode}", expected one of ${MODES.join(', ')}`);
  return chosen.map((each) => ({
    members: numberOf('members', String(members), MAX_EXPLORED),
    mode: each,
    faults: numberOf('faults-at-most', String(faults), MAX_EXPLORED, 0),
  }));
}

/** Undefined: nothing is to be predicted. */
function predictionsOf(values: Given): readonly PredictionOptions[] | undefined {
  const { members, operators = '1', slower = '1' } = values;
  const shared = ['operators', 'slower'].find((flag) => values[flag] !== undefined);
  if (values['predict'] !== true) {
    if (shared !== undefined) throw new Error(`--${shared}: expected --predict beside it`);
    return undefined;
  }
  const other = Object.keys(values).find(
    (flag) => !PREDICTED.includes(flag) && values[flag] !== undefined && values[flag] !== false,
  );
  if (other !== undefined) {
    throw new Error(`--${other}: expected no such flag beside --predict, which draws nothing`);
  }
  if (members === undefined) {
    if (shared !== undefined) throw new Error(`--${shared}: expected --members beside it`);
    return [];
  }
  const times = Number(slower);
  if (!(times > 0 && times <= MAX_SLOWER)) {
    throw new Error(`--slower: "${slower}", expected a number above 0, at most ${MAX_SLOWER}`);
  }
  const replicas = numberOf('operators', String(operators), MAX_OPERATORS);
  return String(members)
    .split(',')
    .map((text) => ({ members: sizeOf(text), operators: replicas, slower: times }));
}

const PREDICTED: readonly string[] = ['predict', 'members', 'operators', 'slower', 'help'];

/** Two Jobs of the same size run what one may not. */
function sizeOf(text: string): number {
  const members = numberOf('members', text, MAX_PREDICTED_MEMBERS);
  if (members <= MAX_COMPLETIONS || members % 2 === 0) return members;
  throw new Error(`--members: "${text}", expected an even number above ${MAX_COMPLETIONS}`);
}

/** `N` is from 1 to N. */
function rangeOf(text: string): SeedRange {
  const [, from = '1', to = ''] = /^(?:(.+)-)?(.+)$/.exec(text) ?? [];
  const first = numberOf('seeds', from, Number.MAX_SAFE_INTEGER);
  const last = numberOf('seeds', to, Number.MAX_SAFE_INTEGER, first);
  if (last - first < MAX_SEEDS) return { first, last };
  throw new Error(`--seeds: "${text}", expected at most ${MAX_SEEDS} seeds`);
}

function numberOf(flag: string, text: string, max: number, min = 1): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`--${flag}: "${text}", expected a whole number from ${min} to ${max}`);
}

function kindsOf(list: string): readonly ActKind[] {
  return list.split(',').map((name) => {
    const kind = ACT_KINDS.find((each) => each === name.trim());
    if (kind !== undefined) return kind;
    throw new Error(`--faults: "${name}", expected some of ${ACT_KINDS.join(', ')}`);
  });
}
