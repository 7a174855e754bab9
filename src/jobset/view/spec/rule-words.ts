/** The rules of a failure policy in words. */

import { listed } from '@lockstep/kube/listed.ts';
import type { FailurePolicyAction, FailurePolicyRule } from '../../jobset.ts';
import { type Asked, isInPlace, type Words } from './asked.ts';

const ACTIONS: Readonly<Record<FailurePolicyAction, string>> = {
  FailJobSet: 'the JobSet fails at once',
  RestartJobSet: 'all of it restarts, which counts',
  RestartJobSetAndIgnoreMaxRestarts: 'all of it restarts, which does not count',
  RestartJob: 'only that Job is made anew, which counts',
  RestartJobAndIgnoreMaxRestarts: 'only that Job is made anew, which does not count',
};

export function ruleWords(asked: Asked): Words {
  const rules = asked.spec.failurePolicy?.rules ?? [];
  if (rules.length === 0) return [];
  return [
    ...rules.map((rule) => `Rule ${rule.name}: if ${failureWords(rule)}, ${ACTIONS[rule.action]}.`),
    'The first rule that matches decides. Any other failure restarts all of it, which counts.',
    ...(isInPlace(asked)
      ? [
          'A worker that fails counts as a Job with reason BackoffLimitExceeded: only rules that list it apply.',
        ]
      : []),
  ];
}

function failureWords({
  onJobFailureReasons: reasons = [],
  onJobFailureMessagePatterns: patterns = [],
  targetReplicatedJobs: targets = [],
}: FailurePolicyRule): string {
  const of = targets.length === 0 ? '' : ` of ${listed(targets, 'or')}`;
  const why = reasons.length === 0 ? '' : ` for ${listed(reasons, 'or')}`;
  const said =
    patterns.length === 0 ? '' : ` with a message that matches ${listed(patterns, 'or')}`;
  return `a Job${of} fails${why}${said}`;
}
