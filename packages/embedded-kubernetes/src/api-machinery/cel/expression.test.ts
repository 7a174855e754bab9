import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type CelVariables, compileExpression, type Evaluation } from './expression.ts';
import { MAX_EVALUATION_COST } from './limits.ts';

function evaluate(source: string, variables: CelVariables, bindings: object): Evaluation {
  const compiled = compileExpression(source, variables);
  if (compiled.kind === 'Invalid') throw new Error(compiled.message);
  return compiled.expression.evaluate({ ...bindings });
}

function messageOf(source: string, variables: CelVariables = { self: 'dyn' }): string {
  const compiled = compileExpression(source, variables);
  return compiled.kind === 'Invalid' ? compiled.message : 'none';
}

const TEXT: JsonSchema = { type: 'string' };

describe('an expression', () => {
  it('says what it reads and what it gives', () => {
    const compiled = compileExpression('self.a == oldSelf.a', { self: 'dyn', oldSelf: 'dyn' });
    expect(compiled).toMatchObject({ kind: 'Expression', expression: { resultType: 'bool' } });
    if (compiled.kind === 'Invalid') return;
    expect([...compiled.expression.uses]).toEqual(['self', 'oldSelf']);
  });

  it('does not count as a reader of a variable that a loop hides', () => {
    const compiled = compileExpression('[1].all(self, self > 0)', { self: 'dyn' });
    if (compiled.kind === 'Invalid') throw new Error(compiled.message);
    expect([...compiled.expression.uses]).toEqual([]);
  });

  it('sees an optional that may be absent', () => {
    const variables = { old: { optionalOf: TEXT } };
    expect(evaluate("old.orValue('none')", variables, {})).toMatchObject({ value: 'none' });
    expect(evaluate("old.orValue('none')", variables, { old: 'x' })).toMatchObject({ value: 'x' });
  });

  it('fails where it needs a binding that is missing', () => {
    const result = evaluate('request.x == 1 || object.y', { object: 'dyn', request: 'dyn' }, {});
    expect(result).toMatchObject({ kind: 'Error', message: 'no such attribute(s): request' });
  });

  it('has no authorizer, and says so', () => {
    const text =
      "undeclared reference to 'authorizer' (in container ''); authorizer is not supported";
    expect(messageOf("authorizer.group('').resource('pods').check('get').allowed()")).toContain(
      text,
    );
  });

  it('takes numbers of JSON for what the schema says they are', () => {
    const schema = (type: 'integer' | 'number'): CelVariables => ({ self: { type } });
    expect(evaluate('self / 2', schema('integer'), { self: 7 })).toMatchObject({ value: 3n });
    expect(evaluate('self / 2.0', schema('number'), { self: 7 })).toMatchObject({ value: 3.5 });
    expect(messageOf('self / 2', schema('number'))).toContain("applied to '(double, int)'");
  });

  it('keeps the names of prototypes apart from members', () => {
    const bindings = { self: JSON.parse('{"constructor": 1, "__proto__": 2}') };
    const self: CelVariables = { self: 'dyn' };
    expect(evaluate('self.constructor + self.__proto__', self, bindings)).toMatchObject({
      value: 3n,
    });
    expect(evaluate('has(self.toString)', self, bindings)).toMatchObject({ value: false });
    expect(evaluate("'valueOf' in self", self, bindings)).toMatchObject({ value: false });
    expect(messageOf("__proto__('x')")).toContain("undeclared reference to '__proto__'");
  });
});

const MANY = {
  self: { l: Array.from({ length: 2_000 }, (_, index) => index), s: 'a'.repeat(30_000) },
};
const EXCEEDED = 'operation cancelled: actual cost limit exceeded';

describe('an expression that would take long ends early', () => {
  it.each([
    ['nested loops', 'self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))'],
    [
      'a loop that absorbs its errors',
      'self.l.all(a, self.l.exists(b, self.x || a == -b - 1)) || true',
    ],
    ['texts that grow', `[1].map(a, ${'self.s + '.repeat(500)}'')`],
    ['lists that grow', `size(${'self.l + '.repeat(900)}[]) > 0`],
    ['lists of lists', 'self.l.map(a, self.l.map(b, self.l))'],
    ['a comparison of large values, over and over', 'self.l.all(a, self.l == self.l)'],
    ['a replacement that multiplies', 'self.s.replace("", self.s).size() > 0'],
    ['an expensive pattern', 'self.l.all(a, self.s.matches("(a{1,30}){1,30}"))'],
    ['matches that each look at all the rest', 'self.s.findAll(".*b|a").size() > 0'],
    ['sets', 'sets.contains(self.l + self.l, self.l + self.l)'],
    ['a range', 'lists.range(1000000000000).size() > 0'],
    ['formatting', 'self.l.map(a, "%s".format([self.l])).size() > 0'],
  ])('%s', (_name, source) => {
    const compiled = compileExpression(source, { self: 'dyn' });
    if (compiled.kind === 'Invalid') throw new Error(compiled.message);
    const result = compiled.expression.evaluate(MANY, MAX_EVALUATION_COST / 10);
    expect(result).toMatchObject({ kind: 'Error', message: EXCEEDED });
  });

  it('by default, after a million steps', () => {
    const result = evaluate('self.l.all(a, self.l.all(b, a + b >= 0))', { self: 'dyn' }, MANY);
    expect(result).toMatchObject({ kind: 'Error', message: EXCEEDED });
  });

  it('within the limit that the caller gives', () => {
    const compiled = compileExpression('self.l.all(a, a >= 0)', { self: 'dyn' });
    if (compiled.kind === 'Invalid') throw new Error(compiled.message);
    expect(compiled.expression.evaluate(MANY)).toMatchObject({ kind: 'Value', value: true });
    const short = compiled.expression.evaluate(MANY, 1_000);
    expect(short).toMatchObject({ kind: 'Error', message: EXCEEDED });
  });
});

describe('an expression that is too much to read is refused', () => {
  it.each([
    ['parentheses', '('.repeat(10_000)],
    ['signs', '!'.repeat(50_000)],
    ['minus signs', '-'.repeat(50_000)],
    ['lists', '['.repeat(50_000)],
    ['selections', `self${'.a'.repeat(40_000)}`],
    ['a chain of additions', `1${' + 1'.repeat(20_000)}`],
    ['conditionals', 'true ? 1 : '.repeat(8_000)],
    ['a very long text', `'${'a'.repeat(100_001)}'`],
  ])('%s', (_name, source) => {
    expect(messageOf(source)).toMatch(/^ERROR: <input>:1:\d+: .*limit/);
  });

  it('but a long chain of alternatives is not', () => {
    const source = Array.from({ length: 5_000 }, (_, index) => `self == ${index}`).join(' || ');
    expect(evaluate(source, { self: 'dyn' }, { self: 4_999 })).toMatchObject({ value: true });
  });
});

const OPERANDS = [
  'self',
  'self.a',
  'self.l',
  'self.s',
  'self.m',
  'x',
  '1',
  '-1',
  '1.5',
  '2u',
  "'a'",
  'null',
  'true',
  '[]',
  '{}',
  "b'x'",
  'type(1)',
];
const BINARY = ['+', '-', '*', '/', '%', '==', '!=', '<', '<=', 'in', '&&', '||'];
const METHODS = [
  'size()',
  'sum()',
  'min()',
  'sort()',
  'flatten()',
  'reverse()',
  'trim()',
  "split('')",
  "matches('a+')",
  "replace('', 'b')",
  'substring(1)',
  'charAt(0)',
  'first()',
  'join()',
  'getHours()',
  'hasValue()',
  'value()',
];
const CALLS = [
  'size',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'duration',
  'timestamp',
  'type',
  'dyn',
  'quantity',
  'url',
  'ip',
  'cidr',
  'optional.of',
  'lists.range',
  'constructor',
];
const LOOPS = ['all', 'exists', 'exists_one', 'map', 'filter'];

const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const part = tie('expression');
  return {
    expression: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      fc.constantFrom(...OPERANDS),
      fc.tuple(part, fc.constantFrom(...BINARY), part).map((parts) => `(${parts.join(' ')})`),
      fc.tuple(part, fc.constantFrom(...METHODS)).map(([of, method]) => `${of}.${method}`),
      fc.tuple(fc.constantFrom(...CALLS), part).map(([name, of]) => `${name}(${of})`),
      fc
        .tuple(part, fc.constantFrom(...LOOPS), part)
        .map(([of, loop, body]) => `${of}.${loop}(x, ${body})`),
      fc.tuple(part, part, part).map(([test, a, b]) => `(${test} ? ${a} : ${b})`),
      fc.tuple(part, part).map(([of, index]) => `${of}[${index}]`),
      fc.tuple(part, part).map(([a, b]) => `[${a}, ${b}]`),
      fc.tuple(part, part).map(([key, value]) => `{${key}: ${value}}`),
      part.map((of) => `'%s'.format([${of}])`),
      part.map((of) => `!${of}`),
      part.map((of) => `-${of}`),
    ),
  };
});

const VARIABLES: CelVariables = { self: 'dyn' };
const VALUE = {
  a: 3,
  l: [1, 2, 3, 2.5, 'x', null, [1], { k: 1 }],
  s: 'hällo',
  m: { k: 'v', __proto: 1 },
};

test('no expression crashes, and none costs more than its limit but for the last step', () => {
  fc.assert(
    fc.property(expression, (source) => {
      const compiled = compileExpression(source, VARIABLES);
      if (compiled.kind === 'Invalid') {
        expect(compiled.message).toMatch(/^ERROR: <input>:\d+:\d+: /);
        return;
      }
      const result = compiled.expression.evaluate({ self: VALUE });
      if (result.cost > MAX_EVALUATION_COST) expect(result).toMatchObject({ message: EXCEEDED });
      else expect(['Value', 'Error']).toContain(result.kind);
      expect(compiled.expression.estimatedCost).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 1_000 },
  );
});

test('no text crashes the parser', () => {
  const token = fc.constantFrom(
    ...'()[]{}.,?:!-+*/%<>=&|"\'`\\rb0x1eu \n'.split(''),
    '==',
    '&&',
    '||',
    'in',
    'self',
    'true',
    '"""',
    '.all(x,',
    'has(',
    '\ud800',
    '😀',
    '\\u12',
    '\\777',
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(token, { maxLength: 30, size: 'max' }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (source) => {
      const compiled = compileExpression(source, VARIABLES);
      if (compiled.kind === 'Expression') compiled.expression.evaluate({ self: VALUE });
      else expect(compiled.message).toMatch(/^ERROR: <input>:\d+:\d+: /);
    }),
    { numRuns: 2_000 },
  );
});

/** `==` agrees with equality of JSON: a value equals its copy, and nothing that differs from it. */
test('values are equal if their JSON is', () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(json, json, (a, b) => {
      const same = evaluate('a == b', { a: 'dyn', b: 'dyn' }, { a, b: structuredClone(a) });
      expect(same).toMatchObject({ value: true });
      const result = evaluate('a == b', { a: 'dyn', b: 'dyn' }, { a, b });
      const normal = (value: unknown): string => JSON.stringify(sortedMembers(value));
      expect(result).toMatchObject({ value: normal(a) === normal(b) });
    }),
  );
});

/** Sorts members by name, so that equal objects have equal texts. */
function sortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedMembers);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return { entries: entries.map(([key, member]) => [key, sortedMembers(member)]) };
}
