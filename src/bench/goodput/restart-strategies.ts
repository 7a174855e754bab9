/** The strategies by which a simulated group deals with failures, and the runs with them. */

import type { StringMap } from '@lockstep/kube/meta.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import type { Outage } from './failures.ts';
import type { Ledger, Sums } from './ledger.ts';

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
