import { describe, expect, test } from 'vitest';
import { replicatedJob } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSetSpec } from '../jobset.ts';
import { JOBS, problems, RULES, rules } from './new-jobset.fixture.ts';

const ruleName = (name: string): string =>
  `invalid failure policy rule name '${name}', a failure policy rule name must start with an alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'`;
const ruleNameLength = (length: number): string =>
  `invalid failure policy rule name of length ${length}, the rule name must be at least 1 characters long and at most 128 characters long`;

describe('the failure policy of a new JobSet', () => {
  test.each<[string, JobSetSpec, readonly string[]]>([
    [
      'names of rules that no reason of a condition can hold',
      rules({ name: '1' }, { name: 'a-b' }, { name: 'a:' }, { name: 'a'.repeat(129) }),
      [
        `${RULES}[0].name: Invalid value: "1": ${ruleName('1')}`,
        `${RULES}[1].name: Invalid value: "a-b": ${ruleName('a-b')}`,
        `${RULES}[2].name: Invalid value: "a:": ${ruleName('a:')}`,
        `${RULES}[3].name: Invalid value: "${'a'.repeat(129)}": ${ruleNameLength(129)}`,
      ],
    ],
    [
      'names of rules that are not unique, the default ones included',
      rules({ name: 'a' }, {}, { name: 'a' }, { name: 'failurePolicyRule1' }),
      [
        `${RULES}: Invalid value: "a": rule names are not unique, rules with indices [0 2] all have the same name 'a'`,
        `${RULES}: Invalid value: "failurePolicyRule1": rule names are not unique, rules with indices [1 3] all have the same name 'failurePolicyRule1'`,
      ],
    ],
    [
      'targets and reasons of rules that are unknown, and patterns that are none',
      rules({
        targetReplicatedJobs: ['x'],
        onJobFailureReasons: ['BackoffLimitExceeded', 'Bored'],
        onJobFailureMessagePatterns: ['(?i)oom', 'a(?=b)'],
      }),
      [
        `${RULES}[0].targetReplicatedJobs[0]: Invalid value: "x": invalid replicatedJob name 'x' in failure policy does not appear in .spec.ReplicatedJobs`,
        `${RULES}[0].onJobFailureReasons[1]: Invalid value: "Bored": invalid job failure reason 'Bored' in failure policy is not a recognized job failure reason`,
        `${RULES}[0].onJobFailureMessagePatterns[1]: Invalid value: "a(?=b)": must be a regular expression in RE2 syntax: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
      ],
    ],
    [
      'restarts of single Jobs among more than can be counted, once',
      {
        replicatedJobs: [replicatedJob('a', 1, 1025), replicatedJob('b', 1, 2000)],
        failurePolicy: { rules: [{ name: 'r', action: 'RestartJobAndIgnoreMaxRestarts' }] },
      },
      [
        `${JOBS}.replicas: Invalid value: 1025: JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and a replicated job with replicas > 1024`,
      ],
    ],
  ])('is refused for %s', (_what, spec, expected) => {
    expect(problems(spec)).toEqual(expected);
  });

  test('is refused for patterns that take long to compile, quickly', () => {
    const pattern = '(a{0,1000}){0,1}'.repeat(50);
    const found = problems(rules({ onJobFailureMessagePatterns: ['ok', pattern] }));
    expect(found).toEqual([
      expect.stringMatching(
        /^spec\.failurePolicy\.rules\[0\]\.onJobFailureMessagePatterns\[1\]: .* more than 5000 instructions$/,
      ),
    ]);
  });

  test('may restart no single Job without the gate, which hides other problems of the rules', () => {
    const spec = rules({ name: '1' }, { action: 'RestartJob' });
    expect(problems(spec, {}, { RestartJob: false })).toEqual([
      `${RULES}[1].action: Forbidden: RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is disabled`,
    ]);
  });
});
