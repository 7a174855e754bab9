import type { JobSet, ReplicatedJob } from '../../jobset/jobset.ts';

/** A review of a new JobSet, as an API server sends it. */
export function reviewOf(jobSet: object): string {
  const resource = { group: 'jobset.x-k8s.io', version: 'v1alpha2', resource: 'jobsets' };
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'bench',
      kind: { group: resource.group, version: resource.version, kind: 'JobSet' },
      resource,
      operation: 'CREATE',
      namespace: 'default',
      userInfo: { username: 'bench' },
      object: jobSet,
    },
  });
}

/** As many ReplicatedJobs as asked for, each as short as possible. */
export function manyReplicatedJobs(count: number): object {
  const replicatedJobs = Array.from({ length: count }, (_, i) => ({
    name: `a${i}`,
    template: { spec: {} },
  }));
  return { ...HEAD, spec: { replicatedJobs } };
}

/**
 * `turn` makes the patterns of one review differ from the patterns of others, so that none is cached.
 */
export function heavyPatterns(rules: number, turn: number): object {
  return {
    ...HEAD,
    spec: {
      replicatedJobs: [replicatedJob(1)],
      failurePolicy: {
        rules: Array.from({ length: rules }, (_, i) => ({
          name: `rule${i}`,
          action: 'FailJobSet',
          onJobFailureReasons: ['PodFailurePolicy'],
          onJobFailureMessagePatterns: [`(\\pL{1,300}|${turn}-${i}){1,3}`],
        })),
      },
    },
  };
}

/** A JobSet with `replicas` Jobs, with agents. */
export function oversized(namespace: string, name: string, replicas: number): JobSet {
  return {
    ...HEAD,
    metadata: { namespace, name },
    spec: {
      failurePolicy: { maxRestarts: 1000, restartStrategy: 'InPlaceRestart' },
      replicatedJobs: [replicatedJob(replicas)],
    },
  };
}

const HEAD = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: { namespace: 'default', name: 'hostile' },
} as const;

function replicatedJob(replicas: number): ReplicatedJob {
  return {
    name: 'w',
    replicas,
    template: {
      spec: {
        template: {
          spec: {
            schedulerName: 'nobody',
            containers: [{ name: 'worker', image: 'none', command: ['true'] }],
          },
        },
      },
    },
  };
}
