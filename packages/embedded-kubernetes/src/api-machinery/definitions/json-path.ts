import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { isJsonObject, ownMember } from '@lockstep/kube/json/json-value.ts';

/**
 * The part of JSONPath that printer columns use: `.a.b`, `['k']`, `[0]`, `[-1]`, `[*]`, `.*`,
 * `[?(@.type=="Ready")]`, each with or without braces around the whole. A dot in a name is
 * written `\.`, as in `.metadata.labels.example\.com/name`.
 */
export type JsonPath = readonly JsonPathStep[];

export type JsonPathStep =
  | { readonly kind: 'member'; readonly name: string }
  /** A negative index counts from the end. */
  | { readonly kind: 'element'; readonly index: number }
  | { readonly kind: 'all' }
  | {
      readonly kind: 'filter';
      readonly path: JsonPath;
      readonly comparison: '==' | '!=' | 'exists';
      readonly value: unknown;
    };

/** Parses a path, or returns what is wrong with the text. */
export function parseJsonPath(
  text: string,
): { readonly path: JsonPath; readonly error?: never } | { readonly error: string } {
  const inner = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
  if (inner.length > MAX_PATH_LENGTH) return { error: `longer than ${MAX_PATH_LENGTH} characters` };
  const bare = inner.startsWith('$') || inner.startsWith('@') ? inner.slice(1) : inner;
  if (bare !== '' && !/^[.[]/.test(bare)) {
    return { error: `expected a path that begins with "." or "[", got ${JSON.stringify(text)}` };
  }
  return parseSteps(bare);
}

/** All values that the path leads to; empty if it leads nowhere. */
export function findAll(value: unknown, path: JsonPath): readonly unknown[] {
  let found: readonly unknown[] = [value];
  for (const step of path) found = found.flatMap((at) => next(at, step));
  return found;
}

const MAX_PATH_LENGTH = 4_096;

const STEPS: readonly { readonly form: RegExp; step(match: readonly string[]): JsonPathStep }[] = [
  { form: /^(?:\.\*|\[\*\])/, step: () => ({ kind: 'all' }) },
  { form: /^\.((?:[^.[\]\\\s{}]|\\.)+)/, step: ([, name = '']) => member(name) },
  { form: /^\['((?:[^'\\]|\\.)*)'\]/, step: ([, name = '']) => member(name) },
  { form: /^\["((?:[^"\\]|\\.)*)"\]/, step: ([, name = '']) => member(name) },
  {
    form: /^\[(-?[0-9]{1,9})\]/,
    step: ([, index = '']) => ({ kind: 'element', index: Number(index) }),
  },
];

const FILTER =
  /^\[\?\(\s*@((?:[^=!<>\s()'"]|\['[^']*'\])*)\s*(?:(==|!=)\s*("[^"]*"|'[^']*'|-?[0-9.]+|true|false|null)\s*)?\)\]/;

function parseSteps(
  text: string,
): { readonly path: JsonPath; readonly error?: never } | { readonly error: string } {
  const path: JsonPathStep[] = [];
  // A dot alone is the object itself, also in front of a bracket.
  let rest = text === '.' ? '' : text.replace(/^\.(?=\[)/, '');
  while (rest !== '') {
    const filter = FILTER.exec(rest);
    if (filter !== null) {
      const [all, of = '', comparison, value] = filter;
      const inner = parseSteps(of);
      if (inner.error !== undefined) return inner;
      if (comparison === '==' || comparison === '!=') {
        path.push({ kind: 'filter', path: inner.path, comparison, value: literal(value ?? '') });
      } else path.push({ kind: 'filter', path: inner.path, comparison: 'exists', value: null });
      rest = rest.slice(all.length);
      continue;
    }
    const match = STEPS.map(({ form, step }) => ({ match: form.exec(rest), step })).find(
      (candidate) => candidate.match !== null,
    );
    if (match?.match == null) return { error: `cannot read ${JSON.stringify(rest)}` };
    path.push(match.step(match.match));
    rest = rest.slice(match.match[0].length);
  }
  return { path };
}

function member(name: string): JsonPathStep {
  return { kind: 'member', name: name.replace(/\\(.)/g, '$1') };
}

function literal(text: string): unknown {
  if (/^["']/.test(text)) return text.slice(1, -1);
  switch (text) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'null':
      return null;
    default:
      return Number(text);
  }
}

function next(value: unknown, step: JsonPathStep): readonly unknown[] {
  switch (step.kind) {
    case 'member': {
      const found = isJsonObject(value) ? ownMember(value, step.name) : undefined;
      return found === undefined ? [] : [found];
    }
    case 'element': {
      const found: unknown = Array.isArray(value) ? value.at(step.index) : undefined;
      return found === undefined ? [] : [found];
    }
    case 'all':
      return membersOf(value);
    case 'filter':
      return membersOf(value).filter((candidate) => passes(candidate, step));
    default:
      return step satisfies never;
  }
}

function membersOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

function passes(value: unknown, filter: JsonPathStep & { readonly kind: 'filter' }): boolean {
  const found = findAll(value, filter.path);
  if (filter.comparison === 'exists') return found.length > 0;
  return found.some((one) => deepEqual(one, filter.value) === (filter.comparison === '=='));
}
