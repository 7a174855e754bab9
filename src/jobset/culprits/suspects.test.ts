import { describe, expect, test } from 'vitest';
import { evidenceIn, SCENARIOS } from './scenarios.fixture.ts';

describe('the table of scenarios', () => {
  test.each(SCENARIOS)('$name: its culprits are among those of whom something is known', (row) => {
    for (const size of [4, 64] as const) {
      const expected = row.expected[size];
      const { members } = evidenceIn(row, size);
      const known = new Set(members.map(({ member }) => String(member.completionIndex)));
      if (expected === 'unknown') continue;
      for (const each of expected.split(', ')) {
        const [, rank = ''] = /^(\d+) (?:Certain|Likely)$/.exec(each) ?? [];
        expect(known).toContain(rank);
      }
    }
  });

  test('names each scenario once', () => {
    expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
  });
});
