/** What could stand at the end of a line: an answer, or a question to the cluster. */
import type { Argument, Command, Option } from 'commander';
import { AGENT_CHANNELS } from '../../jobset/injection/agent-hub.ts';

export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** What the line says about the cluster. */
export interface GivenFlags {
  readonly namespace?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
}

export type NameKind = 'JobSets' | 'Namespaces' | 'Contexts';

export type Wanted =
  | { readonly kind: 'Candidates'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'Files' }
  | {
      readonly kind: NameKind;
      readonly given: GivenFlags;
      /** What has been typed of the name, before which `typedPrefix` stays. */
      readonly typed: string;
      readonly typedPrefix: string;
      /** Names that the line has already. */
      readonly taken: readonly string[];
    };

/** The last of the words is the one to complete; it may be empty. */
export function wantedAfter(program: Command, words: readonly string[]): Wanted {
  const typed = words.at(-1) ?? '';
  const line = readLine(program, words.slice(0, -1));
  const { command, pending } = line;
  if (pending !== undefined) return valuesOf(line, pending, typed);
  const inOne = /^(--[a-z-]+)=(.*)$/s.exec(typed);
  if (inOne !== null && !line.isOver) {
    const option = optionNamed(command, inOne[1] ?? '');
    return option === undefined ? NOTHING : valuesOf(line, option, inOne[2] ?? '');
  }
  if (typed.startsWith('-') && !line.isOver) return startingWith(typed, flagsOf(command));
  if (command.commands.length > 0) return startingWith(typed, commandsOf(command));
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument =
    registeredArguments[line.positional.length] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? NOTHING : argumentValues(line, argument, typed);
}

const NOTHING: Wanted = { kind: 'Candidates', candidates: [] };

interface Line {
  readonly command: Command;
  readonly positional: readonly string[];
  readonly given: GivenFlags;
  /** The last word is a flag that lacks its value. */
  readonly pending?: Option;
  /** After `--` there are no flags. */
  readonly isOver: boolean;
}

const GIVEN = ['namespace', 'context', 'kubeconfig'] as const;

function readLine(program: Command, words: readonly string[]): Line {
  let command = program;
  let pending: Option | undefined;
  let isOver = false;
  const positional: string[] = [];
  const given: { -readonly [flag in keyof GivenFlags]: GivenFlags[flag] } = {};
  const note = (option: Option, value: string): void => {
    const flag = GIVEN.find((each) => each === option.attributeName());
    if (flag !== undefined) given[flag] = value;
  };
  for (const word of words) {
    if (pending !== undefined) {
      note(pending, word);
      pending = undefined;
    } else if (word === '--') isOver = true;
    else if (word.startsWith('-') && !isOver) {
      const [, name = '', value] = /^(--[^=]*|-[^-=]?)=?(.+)?$/s.exec(word) ?? [];
      const option = optionNamed(command, name);
      if (option?.required !== true) continue;
      if (value === undefined) pending = option;
      else note(option, value);
    } else {
      const next = command.commands.find((each) => each.name() === word);
      if (next === undefined) positional.push(word);
      else command = next;
    }
  }
  return { command, positional, given, isOver, ...(pending === undefined ? {} : { pending }) };
}

function optionNamed({ options }: Command, name: string): Option | undefined {
  return options.find(({ long, short }) => name !== '' && (long === name || short === name));
}

function commandsOf({ commands }: Command): readonly Candidate[] {
  return commands.map((each) => ({ value: each.name(), description: each.description() }));
}

function flagsOf({ options }: Command): readonly Candidate[] {
  const flags = options.flatMap(({ long, description, hidden }) =>
    hidden || typeof long !== 'string' ? [] : [{ value: long, description }],
  );
  return [...flags, { value: '--help', description: 'show the help of this command' }];
}

function startingWith(typed: string, candidates: readonly Candidate[]): Wanted {
  return {
    kind: 'Candidates',
    candidates: candidates.filter(({ value }) => value.startsWith(typed)),
  };
}

/** What each flag takes. Flags of the same name take the same, except for `--output`. */
const FLAG_VALUES: Readonly<Record<string, NameKind | 'Files' | readonly string[]>> = {
  namespace: 'Namespaces',
  watchNamespace: 'Namespaces',
  jobsetNamespace: 'Namespaces',
  context: 'Contexts',
  kubeconfig: 'Files',
  stateDir: 'Files',
  webhooks: ['on', 'off'],
  mode: ['supervisor', 'sidecar'],
  strategy: ['InPlaceRestart', 'Recreate', 'BlockingRecreate'],
  agentChannel: AGENT_CHANNELS,
  podNamespaces: ['Auto', 'Off'],
};

function valuesOf(line: Line, option: Option, typed: string): Wanted {
  const name = option.attributeName();
  const values = name === 'output' ? formsIn(option) : (FLAG_VALUES[name] ?? []);
  if (values === 'Files') return { kind: 'Files' };
  if (typeof values !== 'string') return startingWith(typed, values.map(asCandidate));
  return { kind: values, given: line.given, typed, typedPrefix: '', taken: [] };
}

/** The help of `--output` begins with its forms: `json, yaml, wide or name`. */
function formsIn({ description }: Option): readonly string[] {
  return (/^[a-z, ]+/.exec(description)?.[0] ?? '').split(/, | or /);
}

function argumentValues(line: Line, argument: Argument, typed: string): Wanted {
  switch (argument.name()) {
    case 'jobset': {
      const [typedPrefix = ''] = /^.*\//s.exec(typed) ?? [];
      return {
        kind: 'JobSets',
        given: line.given,
        typed: typed.slice(typedPrefix.length),
        typedPrefix,
        taken: line.positional,
      };
    }
    case 'file':
      return { kind: 'Files' };
    case 'action':
      return startingWith(typed, ['kill', 'stop', 'start'].map(asCandidate));
    case 'shell':
      return startingWith(typed, ['bash', 'zsh', 'fish'].map(asCandidate));
    default:
      return NOTHING;
  }
}

function asCandidate(value: string): Candidate {
  return { value };
}
