import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as names from '../names.ts';
import { type AnnotationPlace, OWN_ANNOTATIONS } from './table.ts';

const PAGE = join(import.meta.dirname, '../../../docs/reference/names.md');

const PLACES: Readonly<Record<AnnotationPlace, string>> = {
  JobSet: 'JobSet annotation',
  PodTemplate: 'Pod template annotation',
  Namespace: 'Namespace annotation',
};

it.each(OWN_ANNOTATIONS)('docs/reference/names.md has the row of $key', (annotation) => {
  const { key, on, values, help } = annotation;
  const [place] = on;
  const row = `| \`${key}\` | ${place && PLACES[place]} | ${values} | ${help} |`;
  expect(readFileSync(PAGE, 'utf8').split('\n')).toContain(row);
});

it('says in docs/reference/names.md which keys of a JobSet a Namespace cannot have', () => {
  const text = readFileSync(PAGE, 'utf8').replace(/\s+/g, ' ');
  const others = OWN_ANNOTATIONS.filter(
    ({ on }) => on[0] === 'JobSet' && !on.includes('Namespace'),
  );
  const listed = others.map(({ key }) => `\`${key.replace('lockstep/', '')}\``);
  expect(text).toContain(`except ${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`);
});

it('has every name below the prefix that users may set, once', () => {
  const ours = Object.values(names)
    .map(String)
    .filter((name) => /^lockstep\/./.test(name));
  const others: readonly string[] = [
    names.AGENT_STARTS,
    names.DOCTOR,
    names.NOTICE,
    names.MANAGED_BY_LOCKSTEP,
  ];
  expect(OWN_ANNOTATIONS.map(({ key }) => key).toSorted()).toEqual(
    ours.filter((name) => !others.includes(name)).toSorted(),
  );
});
