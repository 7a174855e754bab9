/** Warnings for Jobs that are valid but may surprise, in the words of the API server. */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { dns1123LabelErrors } from '@lockstep/kube/name-rules.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { podTemplateWarnings } from '../pod/pod-warnings.ts';

const MANY_COMPLETIONS = 100_000;
const MANY_AT_A_TIME = 10_000;

/** Warnings for a new Job, or for an update of `before` that changes its spec. */
export function jobWarnings(job: Job, before: Job | undefined): readonly string[] {
  const warnings: string[] = [];
  if (before === undefined) {
    const problems = dns1123LabelErrors(job.metadata.name ?? '');
    if (problems.length > 0) {
      const why =
        'this is used in Pod names and hostnames, which can result in surprising behavior';
      warnings.push(`metadata.name: ${why}; a DNS label is recommended: [${problems.join(' ')}]`);
    }
  } else if (deepEqual(before.spec, job.spec)) return warnings;
  const { completionMode, completions = 0, parallelism = 0 } = job.spec;
  const isLarge = completions > MANY_COMPLETIONS && parallelism > MANY_AT_A_TIME;
  if (completionMode === 'Indexed' && isLarge) {
    warnings.push(
      'spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail',
    );
  }
  warnings.push(...podTemplateWarnings(job.spec.template, 'spec.template'));
  return warnings;
}
