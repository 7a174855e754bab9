/** The JobSet of the demo. */

import type { EnvVar } from '@lockstep/kube/objects/pod.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { RESTART_MODE, STANDBY } from '../../jobset/names.ts';
import {
  CHECKPOINT_STEPS,
  type DemoMode,
  type DemoStandby,
  type DemoStrategy,
  FAILURES_MAX,
} from './options.ts';

export interface ManifestOptions {
  readonly name: string;
  readonly workers: number;
  readonly strategy: DemoStrategy;
  readonly mode: DemoMode;
  readonly standby: DemoStandby;
  readonly steps: number;
  /** A directory where checkpoints survive the Pods. */
  readonly checkpointDirectory: string;
}

/**
 * Makes it from `examples/mnist/jobset.yaml`, with another name, size and strategy. The strategies
 * that recreate need Jobs that fail with their first Pod. It trains as fast as it can, and its
 * checkpoints are in a directory instead of a claim, so that each strategy starts from the beginning.
 */
export function demoManifest(example: JobSet, options: ManifestOptions): JobSet {
  const [first] = example.spec.replicatedJobs ?? [];
  if (first === undefined) throw new Error('the example has no ReplicatedJob');
  const pod = first.template.spec.template;
  const environment: Readonly<Record<string, string>> = {
    WORLD_SIZE: String(options.workers),
    RING_HOST_FORMAT: `${options.name}-${first.name}-0-%d.${options.name}`,
    TRAINING_STEPS: String(options.steps),
    CHECKPOINT_STEPS: String(CHECKPOINT_STEPS),
    STEPS_PER_SECOND: '0',
  };
  const { volumeClaimPolicies = [], ...spec } = example.spec;
  const claims = volumeClaimPolicies.flatMap(({ templates = [] }) => templates);
  const set = (variable: EnvVar): EnvVar => {
    const value = environment[variable.name];
    return value === undefined ? variable : { name: variable.name, value };
  };
  return {
    ...example,
    metadata: {
      ...example.metadata,
      name: options.name,
      namespace: 'default',
      annotations: {
        [RESTART_MODE]: options.mode === 'supervisor' ? 'Supervisor' : 'Sidecar',
        ...(options.standby === null ? {} : { [STANDBY]: options.standby }),
      },
    },
    spec: {
      ...spec,
      failurePolicy: { maxRestarts: FAILURES_MAX, restartStrategy: options.strategy },
      replicatedJobs: [
        {
          ...first,
          template: {
            ...first.template,
            spec: {
              ...first.template.spec,
              ...(options.strategy === 'InPlaceRestart' ? {} : { backoffLimit: 0 }),
              parallelism: options.workers,
              completions: options.workers,
              template: {
                ...pod,
                spec: {
                  ...pod.spec,
                  containers: pod.spec.containers.map((container) => ({
                    ...container,
                    env: (container.env ?? []).map(set),
                  })),
                  volumes: claims.map(({ metadata }) => ({
                    name: metadata?.name ?? '',
                    hostPath: { path: options.checkpointDirectory, type: 'DirectoryOrCreate' },
                  })),
                },
              },
            },
          },
        },
      ],
    },
  };
}
