import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import { describe, expect, test } from 'vitest';
import { Problem, type Setting } from './setting-types.ts';
import { SETTINGS } from './settings.ts';

const ALL = Object.entries<Setting>(SETTINGS);

describe.each(ALL)('%s', (name, { path, type, flag, negated, ...setting }) => {
  test('has a default that a file could say, or words for it', () => {
    const { default: initial, defaultInWords } = setting;
    expect(initial ?? defaultInWords).toBeDefined();
    if (initial === undefined) return;
    const problems = [...validate(type.schema, initial), ...type.errors(initial, path)];
    if (!type.isAbsent(initial)) expect(problems.map(formatFieldError)).toEqual([]);
  });

  test.runIf(flag !== undefined)('has the name of its flag', () => {
    const words = flag?.slice(2).split('-') ?? [];
    const [first, ...more] = words;
    expect(name).toBe(
      [first, ...more.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)].join(''),
    );
    const isSwitch = type.schema.type === 'boolean';
    expect([type.placeholder === undefined, negated !== undefined]).toEqual([isSwitch, isSwitch]);
  });

  const takesText = type.placeholder !== undefined && type.choices === undefined;
  test.runIf(flag !== undefined && takesText)('refuses a flag alone', () => {
    expect(type.fromText('', undefined)).toBeInstanceOf(Problem);
  });
});

test('settings of a section stand together, and each has a path of its own', () => {
  const paths = ALL.map(([, { path }]) => path);
  expect(new Set(paths).size).toBe(paths.length);
  const parents = new Set(
    paths.flatMap((path) =>
      path
        .split('.')
        .slice(0, -1)
        .map((_, depth, steps) => steps.slice(0, depth + 1).join('.')),
    ),
  );
  for (const parent of parents) {
    const inside = paths.map((path) => path.startsWith(`${parent}.`));
    expect(inside.lastIndexOf(true) - inside.indexOf(true) + 1, parent).toBe(
      inside.filter(Boolean).length,
    );
  }
});
