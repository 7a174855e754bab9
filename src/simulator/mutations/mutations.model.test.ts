/** Some of what `npm run simulate -- --mutations` and `-- --decisions` try, and the tools themselves. */
import { describe, expect, it } from 'vitest';
import { PLANTED } from '../planted/planted.ts';
import { unlistedAnnotations } from './catalogue.ts';
import { differencesOf, disturbDecisions, recorded, STORIES } from './decision-points.ts';
import { tryMutations } from './trials.ts';

it('has values for every annotation that a JobSet may have', () => {
  expect(unlistedAnnotations()).toEqual([]);
});

describe('a change of a live JobSet', () => {
  it('is refused by the name of its field where it may not happen', async () => {
    const tried: number[] = [];
    const findings = await tryMutations({
      phases: ['Starting'],
      chooses: (name) => /containers.0.(image|command|env|ports)|backoffLimit /.test(name),
      told: (_phase, { refused }) => tried.push(refused),
    });
    expect(findings).toEqual([]);
    expect(tried[0]).toBeGreaterThan(10);
  });

  it('leads to what a new one becomes', async () => {
    const same: number[] = [];
    const findings = await tryMutations({
      phases: ['Gathering'],
      chooses: (name) => name.endsWith('add /spec/suspend true'),
      told: (_phase, figures) => same.push(figures.same),
    });
    expect(findings).toEqual([]);
    expect(same).toEqual([1]);
  });

  it('may take the group out of restarts in place, whose failed worker then runs alone', async () => {
    const told: number[] = [];
    const findings = await tryMutations({
      phases: ['Ending'],
      chooses: (name) => name.endsWith('disable-in-place-restart "true"'),
      told: (_phase, figures) => told.push(figures.told),
    });
    expect(findings).toEqual([]);
    expect(told).toEqual([1]);
  });

  it('may differ from a new one where conditions of both say that Jobs are refused', async () => {
    const told: number[] = [];
    const findings = await tryMutations({
      phases: ['Suspended'],
      chooses: (name) => name.endsWith('containers/0/resources/limits/added "2"'),
      told: (_phase, figures) => told.push(figures.told),
    });
    expect(findings).toEqual([]);
    expect(told).toEqual([1]);
  });
});

describe('an operator that dies when it has deleted a Job of a failed group', () => {
  it('brings the group to the same end', async () => {
    let tried = 0;
    const findings = await disturbDecisions({
      stories: ['fails'],
      chooses: (name) => name.includes('DiesAfter') && name.includes('DELETE'),
      told: (_story, _points, runs) => {
        tried += runs;
      },
    });
    expect(findings).toEqual([]);
    expect(tried).toBe(2);
  });
});

it('says that an operator was to die at a write, and did not', async () => {
  const { fails } = STORIES;
  const { outcome } = await recorded(fails);
  const { starts } = outcome;
  expect(await differencesOf(fails, { ...outcome, starts: starts + 1 })).toEqual([
    `${starts} starts of operators instead of ${starts + 1}`,
  ]);
});

describe('what finds a planted bug that no seed finds', () => {
  const found = PLANTED.flatMap(({ name, systematic: [which, , only = ''] = [] }) =>
    which === undefined ? [] : [{ name, which, only }],
  );

  it.each(found)('is one run that holds without it: $name', async ({ which, only }) => {
    const chosen: string[] = [];
    const chooses = (name: string): boolean => {
      if (name.includes(only)) chosen.push(name);
      return name.includes(only);
    };
    const [story = ''] = only.split(':');
    const findings = await (which === '--decisions'
      ? disturbDecisions({ stories: [story], chooses })
      : tryMutations({ chooses }));
    expect(findings).toEqual([]);
    expect(chosen).toHaveLength(1);
  });
});
