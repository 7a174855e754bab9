/** Features that a cluster's administrator may turn off, by upstream's names; all are on here. */
export interface FeatureGates {
  /** Restart strategy `InPlaceRestart`. */
  readonly InPlaceRestart: boolean;
  /** Failure-policy actions `RestartJob` and `RestartJobAndIgnoreMaxRestarts`. */
  readonly RestartJob: boolean;
  /** `parallelism`, `completions` and `replicas` of a live JobSet. */
  readonly ElasticJobSet: boolean;
  /** `status.executionAttempts` (KEP-1282). */
  readonly ExecutionAttemptsTracking: boolean;
  /** Container resources of a suspended JobSet (KEP-1150). */
  readonly MutablePodResourcesForSuspendedJobSets: boolean;
  /** `spec.activeDeadlineSeconds` and `status.startTime` (KEP-1186). */
  readonly JobSetActiveDeadlineSeconds: boolean;
}

export const DEFAULT_FEATURE_GATES: FeatureGates = {
  InPlaceRestart: true,
  RestartJob: true,
  ElasticJobSet: true,
  ExecutionAttemptsTracking: true,
  MutablePodResourcesForSuspendedJobSets: true,
  JobSetActiveDeadlineSeconds: true,
};
