/** The strategies by which a simulated group deals with failures, and the JobSet of each. */

import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { RESTART_MODE } from '../../jobset/names.ts';
import { SIMULATED_MEMBERS } from './costs.ts';
import type { Outage } from './failures.ts';
import type { Ledger, Sums } from './ledger.ts';
import { START_MS } from './simulated-operator.ts';

/** The name of its ReplicatedJob. */
export const STAGE = 'w';

export interface RestartStrategy {
  readonly name: string;
  readonly restartStrategy: 'Recreate' | 'InPlaceRestart';
  readonly annotations: StringMap;
  readonly hasStandby: boolean;
}

export interface RunOptions {
  readonly strategy: RestartStrategy;
  readonly checkpointMs: number;
  readonly outages: readonly Outage[];
  readonly runMs: number;
  /** False: each step of each worker is simulated. */
  readonly skipsQuiet: boolean;
}

export interface RunResult {
  readonly ledger: Ledger;
  readonly failures: number;
  readonly status: JobSetStatus;
  /** At the last release: the time by this ledger, and by the planner in `status.goodput`. */
  readonly accounts: { readonly own: Sums; readonly status: Sums };
}

export function jobSetOf({ restartStrategy, annotations }: RestartStrategy): Stored<JobSet> {
  const template = {
    spec: { containers: [{ name: 'worker', image: 'none', command: ['train'] }] },
  };
  const [parallelism, completions] = [SIMULATED_MEMBERS, SIMULATED_MEMBERS];
  return {
    ...typeMetaOf(JOBSETS),
    metadata: {
      name: 'train',
      namespace: 'default',
      uid: 'jobset',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: new Date(START_MS).toISOString(),
      annotations: { [RESTART_MODE]: 'Supervisor', ...annotations },
    },
    spec: {
      failurePolicy: { maxRestarts: 10_000, restartStrategy },
      replicatedJobs: [
        { name: STAGE, replicas: 1, template: { spec: { parallelism, completions, template } } },
      ],
    },
  };
}
