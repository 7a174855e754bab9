/**
 * How many Jobs and Pods one JobSet may ask for. The definition bounds them on every server, and
 * each operator has lower limits of its own. One line of a spec must not decide how much memory the
 * operator needs, because it works for all other JobSets too.
 */
export interface SizeLimits {
  /** Jobs of one JobSet: the sum of `replicas`. */
  readonly maxJobs: number;
  /** Pods of one JobSet that run at a time: the sum of `replicas` times `parallelism`. */
  readonly maxPods: number;
}

/** `Warn` suits clusters that get JobSets from clusters of other versions. */
export const UNKNOWN_ANNOTATIONS = ['Refuse', 'Warn'] as const;
export type UnknownAnnotations = (typeof UNKNOWN_ANNOTATIONS)[number];

/** What an operator accepts besides the rules of the API. */
export interface JobSetLimits extends SizeLimits {
  /** What becomes of a new unknown annotation, by default `Refuse`. */
  readonly unknownAnnotations?: UnknownAnnotations | undefined;
}

/** The limits of the definition, which no setting exceeds. */
export const DEFINITION_LIMITS: SizeLimits = { maxJobs: 100_000, maxPods: 1_000_000 };

export const DEFAULT_SIZE_LIMITS: SizeLimits = { maxJobs: 20_000, maxPods: 200_000 };
