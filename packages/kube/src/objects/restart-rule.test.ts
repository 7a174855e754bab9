import { describe, expect, it } from 'vitest';
import type { ContainerRestartRule } from './pod.ts';
import { matchingAction } from './restart-rule.ts';

const FIRST_WINS: readonly ContainerRestartRule[] = [
  { action: 'Terminate', exitCodes: { operator: 'In', values: [3, 4] } },
  { action: 'Restart' },
  { action: 'RestartPod', exitCodes: { operator: 'NotIn', values: [0] } },
];

describe('the matching rule', () => {
  it.each<[string, readonly ContainerRestartRule[], number, string | undefined]>([
    ['is the first that lists the code', FIRST_WINS, 3, 'Terminate'],
    ['is a later one when the first does not match', FIRST_WINS, 1, 'RestartPod'],
    ['is none when no rule matches', FIRST_WINS, 0, undefined],
    ['is never an empty In', [{ action: 'Restart', exitCodes: { operator: 'In' } }], 1, undefined],
    [
      'is always an empty NotIn',
      [{ action: 'Restart', exitCodes: { operator: 'NotIn' } }],
      0,
      'Restart',
    ],
  ])('%s', (_, rules, exitCode, expected) => {
    expect(matchingAction(rules, exitCode)).toBe(expected);
  });
});
