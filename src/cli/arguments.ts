import { dns1123LabelErrors } from '@lockstep/kube/name-rules.ts';

/** The user typed something wrong; the message says what, and how to fix it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What a command was asked for, or one line for each wrong argument: its name, its value and what is allowed. */
export type Parsed<Options> =
  | { readonly options: Options }
  | { readonly errors: readonly string[] };

/** Throws a `UsageError` with all that is wrong. */
export function optionsOf<Options>(parsed: Parsed<Options>): Options {
  if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
  return parsed.options;
}

const MAX_TIMEOUT_SECONDS = 3600;

/** Judges arguments together, so that all wrong ones are reported at once. */
export class Arguments {
  readonly #errors: string[];

  constructor(errors: readonly string[] = []) {
    this.#errors = [...errors];
  }

  /** One line for each fault. */
  refuse(...errors: readonly string[]): void {
    this.#errors.push(...errors);
  }

  /** A number from `least` to `most`; NaN for another text, which is refused. */
  whole(
    what: string,
    text: string,
    [least, most]: readonly [number, number],
    allowed = `is an integer from ${least} to ${most}`,
  ): number {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    this.refuse(`${what} is "${text}", allowed ${allowed}`);
    return Number.NaN;
  }

  /** The seconds of `--timeout`. */
  timeout(text: string, unit: 'seconds' | 'whole seconds'): number {
    const allowed = `are ${unit} from 1 to ${MAX_TIMEOUT_SECONDS}`;
    return this.whole('--timeout', text, [1, MAX_TIMEOUT_SECONDS], allowed);
  }

  /** Undefined if it is absent, or none of the choices, which is refused. */
  oneOf<T extends string>(
    what: string,
    text: string | undefined,
    choices: readonly T[],
  ): T | undefined {
    const found = choices.find((choice) => choice === text);
    if (text === undefined || found !== undefined) return found;
    const allowed = choices.length === 1 ? `is ${choices[0]}` : `are ${choices.join(', ')}`;
    this.refuse(`${what} is "${text}", allowed ${allowed}`);
    return undefined;
  }

  /** `options`, unless an argument was refused. */
  parsed<Options>(options: Options): Parsed<Options> {
    return this.#errors.length > 0 ? { errors: this.#errors } : { options };
  }
}

/** The choice that a text is; throws a `UsageError` for another one. */
export function choiceOf<T extends string>(what: string, text: string, choices: readonly T[]): T {
  const given = new Arguments();
  const choice = given.oneOf(what, text, choices);
  // What is none of them is refused.
  return optionsOf(given.parsed(choice as T));
}

/** One line for each fault of a namespace's name. */
export function namespaceErrors(name: string | undefined, flag = '--namespace'): readonly string[] {
  if (name === undefined) return [];
  return dns1123LabelErrors(name).map((why) => `${flag} is "${name}": ${why}`);
}
