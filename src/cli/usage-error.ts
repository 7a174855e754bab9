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

/** One line for each fault of a namespace's name. */
export function namespaceErrors(name: string | undefined, flag = '--namespace'): readonly string[] {
  if (name === undefined) return [];
  return dns1123LabelErrors(name).map((why) => `${flag} is "${name}": ${why}`);
}
