import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../defaults.ts';
import { jobSetWarnings } from '../validation/validation.ts';
import {
  extraRestarts,
  ladderErrors,
  maxRestartsWithoutProgress,
  replaceAfter,
  toleratesReplacement,
} from './ladder-settings.ts';

const REPLACE = 'lockstep/replace-after';
const EXTRA = 'lockstep/extra-restarts';
const LIMIT = 'lockstep/max-restarts-without-progress';
const IN_PLACE = { restartStrategy: 'InPlaceRestart', maxRestarts: 3 } as const;
const DISRUPTED = [{ type: 'DisruptionTarget' }];

describe('annotations', () => {
  test.each<[string, ReturnType<typeof replaceAfter>]>([
    ['3/1h', { strikes: 3, withinMs: 3_600_000 }],
    ['1/1m', { strikes: 1, withinMs: 60_000 }],
    ['10/168h', { strikes: 10, withinMs: 604_800_000 }],
    ['Off', undefined],
  ])('%s is accepted', (text, expected) => {
    expect(replaceAfter({ [REPLACE]: text })).toEqual(expected);
    expect(ladderErrors({ [REPLACE]: text })).toEqual([]);
  });

  test.each(['', '3', '3/', '/1h', '0/1h', '11/1h', '03/1h', '3/59s', '3/169h', '3/1h/2', 'off'])(
    'replace-after "%s" is refused, and counts as Off',
    (text) => {
      expect(replaceAfter({ [REPLACE]: text })).toBeUndefined();
      expect(ladderErrors({ [REPLACE]: text }).map(formatFieldError)).toEqual([
        `metadata.annotations[lockstep/replace-after]: Invalid value: "${text}": expected Off, or a number from 1 to 10 and a duration from 1m0s to 168h0m0s, such as "3/1h"`,
      ]);
    },
  );

  test.each(['-1', '1.5', '1000001', 'many', ''])('extra-restarts "%s" is refused', (text) => {
    expect(extraRestarts({ [EXTRA]: text })).toBe(0);
    expect(ladderErrors({ [EXTRA]: text }).map(({ detail }) => detail)).toEqual([
      'expected Off, or a whole number from 0 to 1000000',
    ]);
  });

  test.each(['0', '1001', 'off'])('max-restarts-without-progress "%s" is refused', (text) => {
    expect(maxRestartsWithoutProgress({ [LIMIT]: text })).toBeUndefined();
    expect(ladderErrors({ [LIMIT]: text }).map(({ detail }) => detail)).toEqual([
      'expected Off, or a whole number from 1 to 1000',
    ]);
  });

  test('numbers are accepted', () => {
    expect(ladderErrors({ [EXTRA]: '0', [LIMIT]: '1000' })).toEqual([]);
    expect(extraRestarts({ [EXTRA]: '5' })).toBe(5);
    expect(maxRestartsWithoutProgress({ [LIMIT]: '3' })).toBe(3);
  });
});

describe('warnings', () => {
  const warningsOf = (
    annotations: Readonly<Record<string, string>>,
    failurePolicy: typeof IN_PLACE | { readonly maxRestarts: number } | undefined,
    ofJob: Partial<ReturnType<typeof replicatedJob>['template']['spec']> = {},
  ): readonly string[] => {
    const job = replicatedJob('w', 2);
    const template = { ...job.template, spec: { ...job.template.spec, ...ofJob } };
    const spec = {
      replicatedJobs: [{ ...job, template }],
      ...(failurePolicy === undefined ? {} : { failurePolicy }),
    };
    const jobSet = { apiVersion: 'v', kind: 'JobSet', metadata: { annotations }, spec };
    return jobSetWarnings(jobSet, withDefaults(spec)).filter((text) =>
      Object.keys(annotations).some((key) => text.includes(key)),
    );
  };

  test('tell where an annotation cannot work', () => {
    const all = { [REPLACE]: '3/1h', [EXTRA]: '1', [LIMIT]: '3' };
    expect(warningsOf(all, IN_PLACE)).toEqual([]);
    expect(warningsOf({ [REPLACE]: 'Off' }, undefined)).toEqual([]);
    expect(warningsOf(all, { maxRestarts: 3 })).toEqual([
      `metadata.annotations[${LIMIT}] has no effect without restartStrategy InPlaceRestart: no agent would report progress`,
      `metadata.annotations[${REPLACE}] has no effect without restartStrategy InPlaceRestart: other strategies make all Pods anew`,
    ]);
    expect(warningsOf({ [EXTRA]: '1' }, undefined)).toEqual([
      `metadata.annotations[${EXTRA}] has no effect without spec.failurePolicy: the first failure is final`,
    ]);
    expect(warningsOf({ [REPLACE]: '3/1h' }, IN_PLACE, { backoffLimitPerIndex: 1 })).toEqual([
      expect.stringMatching(/^replicatedJob w: lockstep\/replace-after replaces none of its Pods/),
    ]);
    const preflight = 'lockstep/preflight';
    expect(
      warningsOf({ [preflight]: 'true' }, IN_PLACE, { backoffLimitPerIndex: 1 }),
    ).toContainEqual(
      expect.stringMatching(/^replicatedJob w: lockstep\/preflight replaces none of its Pods/),
    );
  });

  test('a wrong value that was stored is ignored', () => {
    expect(warningsOf({ [EXTRA]: 'many' }, IN_PLACE)).toEqual([
      expect.stringMatching(/Invalid value: "many": .*; it is ignored$/),
    ]);
  });
});

test.each<[string, Parameters<typeof toleratesReplacement>[0], boolean]>([
  ['no policy', {}, true],
  ['a limit for each index', { backoffLimitPerIndex: 3 }, false],
  [
    'a rule that ignores disruptions',
    {
      backoffLimitPerIndex: 3,
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: DISRUPTED }] },
    },
    true,
  ],
  [
    'a rule that fails the Job',
    { podFailurePolicy: { rules: [{ action: 'FailJob', onPodConditions: DISRUPTED }] } },
    false,
  ],
  ...[
    { operator: 'NotIn', values: [42] } as const,
    { operator: 'NotIn', values: [143] } as const,
    { operator: 'In', values: [1, 137] } as const,
  ].map((onExitCodes): [string, Parameters<typeof toleratesReplacement>[0], boolean] => {
    const rules = [
      { action: 'FailJob', onExitCodes } as const,
      { action: 'Ignore', onPodConditions: DISRUPTED } as const,
    ];
    return ['a rule that an agent may match by its end', { podFailurePolicy: { rules } }, false];
  }),
  [
    'a rule that counts disruptions, before one that an agent may match',
    {
      podFailurePolicy: {
        rules: [
          { action: 'Count', onPodConditions: DISRUPTED },
          { action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [42] } },
        ],
      },
    },
    true,
  ],
  [
    'that rule after one that ignores disruptions',
    {
      podFailurePolicy: {
        rules: [
          { action: 'Ignore', onPodConditions: DISRUPTED },
          { action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [42] } },
        ],
      },
    },
    true,
  ],
  [
    'a rule for exit codes of workers',
    {
      podFailurePolicy: {
        rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }],
      },
    },
    true,
  ],
])('a Job with %s may lose a Pod: %#', (_, spec, expected) => {
  expect(toleratesReplacement(spec)).toBe(expected);
});
