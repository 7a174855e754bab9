import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { DEFINITION_LIMITS, type SizeLimits } from '../size-limits.ts';

type Sized = Pick<DefaultedSpec, 'replicatedJobs'>;

/**
 * Why the JobSet is too large. `before` is its size until now: a JobSet that was stored under other
 * limits may keep its size, or shrink, so that its other fields can be changed.
 */
export function sizeErrors(spec: Sized, limits: SizeLimits, before?: Sized): FieldError[] {
  const now = sizeOf(spec);
  const earlier = before === undefined ? NOTHING : sizeOf(before);
  return [
    ...(now.jobs > Math.max(limits.maxJobs, earlier.jobs)
      ? [tooLarge(now.jobs, 'the sum of replicas', 'maxJobs', limits)]
      : []),
    ...(now.pods > Math.max(limits.maxPods, earlier.pods)
      ? [tooLarge(now.pods, 'the sum of replicas times parallelism', 'maxPods', limits)]
      : []),
  ];
}

/** Whether the definition would refuse the size. */
export function exceedsDefinition(spec: Sized): boolean {
  return sizeErrors(spec, DEFINITION_LIMITS).length > 0;
}

interface Size {
  readonly jobs: number;
  readonly pods: number;
}

const NOTHING: Size = { jobs: 0, pods: 0 };

/**
 * Ignores negative numbers, so that they do not hide others. No server accepts them in a Job.
 */
function sizeOf({ replicatedJobs }: Sized): Size {
  let { jobs, pods } = NOTHING;
  for (const { replicas, template } of replicatedJobs) {
    jobs += Math.max(0, replicas);
    pods += Math.max(0, replicas) * Math.max(0, template.spec.parallelism ?? 1);
  }
  return { jobs, pods };
}

function tooLarge(
  value: number,
  what: string,
  limit: keyof SizeLimits,
  limits: SizeLimits,
): FieldError {
  const whose =
    limits[limit] < DEFINITION_LIMITS[limit] ? ` (limits.${limit} of the operator)` : '';
  return invalidValue(
    'spec.replicatedJobs',
    value,
    `${what} must not exceed ${limits[limit]}${whose}`,
  );
}
