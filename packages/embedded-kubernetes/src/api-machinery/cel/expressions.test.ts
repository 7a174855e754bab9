/**
 * Evaluates hundreds of expressions and compares the answers with the answers of Kubernetes' own
 * library (`testdata/expressions.json`, recorded from the version that it names). Grammar errors are
 * compared by kind and place only, and values without an overload by kind only, because cel-go has no
 * stable words for either.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compileExpression } from './expression.ts';
import { CelList, CelMap, type CelValue, keyText, TypeValue, typeNameOf, Uint } from './value.ts';

const RECORDED: {
  readonly object: object;
  readonly answers: Readonly<Record<string, string>>;
} = JSON.parse(readFileSync(new URL('testdata/expressions.json', import.meta.url), 'utf8'));

function answerOf(source: string): string {
  const compiled = compileExpression(source, { object: 'dyn' });
  if (compiled.kind === 'Invalid') {
    const syntaxError = /^ERROR: <input>:\d+:\d+: Syntax error/.exec(compiled.message);
    return `compile: ${syntaxError?.[0] ?? compiled.message}`;
  }
  const result = compiled.expression.evaluate({ object: RECORDED.object });
  if (result.kind === 'Error') return `error: ${result.message}`;
  const value = result.value as CelValue;
  return `${typeNameOf(value)} ${shown(value)}`.trim();
}

/** Prints values as Go does. */
function shown(value: unknown): string {
  if (value instanceof CelList) {
    return `[${Array.from({ length: value.size }, (_, at) => shown(value.at(at))).join(' ')}]`;
  }
  if (value instanceof CelMap) {
    const entries = value.keys().map((key) => `${keyText(key)?.slice(1)}:${shown(value.get(key))}`);
    return `map[${entries.sort().join(' ')}]`;
  }
  if (value instanceof Uint) return String(value.value);
  if (value instanceof TypeValue) return value.name;
  if (value === null) return 'NULL_VALUE';
  if (typeof value !== 'number') return `${value as string | bigint | boolean}`;
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  // Go writes an exponent beyond 2^21, JavaScript beyond 10^21.
  const [digits = '', exponent = ''] = value.toExponential().split('e+');
  return Math.abs(value) < 2 ** 21 ? String(value) : `${digits}e+${exponent.padStart(2, '0')}`;
}

describe('an expression has the value, or the error, that Kubernetes gives', () => {
  it.each(Object.entries(RECORDED.answers))('%s', (source, answer) => {
    expect(answerOf(source)).toBe(answer);
  });
});

/** Known differences, each with its reason. */
const DIFFERENCES: readonly (readonly [source: string, ours: string])[] = [
  // Rules have no use for protobuf messages.
  [
    "google.protobuf.Duration{seconds: 1} == duration('1s')",
    'compile: ERROR: <input>:1:25: Syntax error',
  ],
  // Semantic versions are not provided.
  [
    "isSemver('1.0.0')",
    "compile: ERROR: <input>:1:9: undeclared reference to 'isSemver' (in container '')\n | isSemver('1.0.0')\n | ........^",
  ],
  // cel-go takes the type of an optional of dyn for dyn itself and misses the int beside it.
  ['[?object.?zz, 1]', 'list [1]'],
  // The sum is a whole number, but a quantity in Go remembers that it was not.
  ["quantity('1500m').add(quantity('500m')).asInteger()", 'int 2'],
  // Go formats a literal pattern when it compiles, we do when we evaluate.
  [
    "'%d'.format(['a'])",
    'error: error during formatting: decimal clause can only be used on integers, was given string',
  ],
];

describe('an expression is treated differently on purpose', () => {
  it.each(DIFFERENCES)('%s', (source, ours) => {
    expect(answerOf(source)).toBe(ours);
  });
});
