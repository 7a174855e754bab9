/**
 * The agent as the entry point of the worker container. It starts the worker when the barrier
 * lifts, stops it when its epoch is over, and judges its exit by the container's own rules. As in a
 * container, all processes that the worker started end with it.
 */

import type { ContainerRestartRule } from '@lockstep/kube/objects/pod.ts';
import type { ProcessSignal } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { StandbyDeaths, StandbyState } from '../jobset/progress/progress.ts';
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';
import type { Body } from './agent.ts';
import { MemberProgress } from './progress/member-progress.ts';
import { runPreflight } from './worker/preflight.ts';
import { StandbyKeeper } from './worker/standby-keeper.ts';
import { SupervisedWorker, type SupervisedWorkerOptions } from './worker/supervised-worker.ts';
import { restartsGroup } from './worker-exit.ts';

export interface SupervisorOptions extends SupervisedWorkerOptions {
  /**
   * The container's restart rules; undefined: not known, so no exit restarts the group from here.
   */
  readonly rules: readonly ContainerRestartRule[] | undefined;
  /** A line of shell that checks the machine after a worker that failed. */
  readonly preflight: string | undefined;
}

export interface Supervisor extends Body {
  /** Hands a signal on to the worker; false if there is none. */
  forward(signal: ProcessSignal): boolean;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const progress = new MemberProgress();
  const { preflight: line } = options;
  const show = (state: StandbyState | undefined, deaths: StandbyDeaths | undefined): void => {
    progress.standby = state;
    progress.standbyDeaths = deaths;
  };
  const standbys = options.hasStandby ? new StandbyKeeper(options, show) : undefined;
  let worker: SupervisedWorker | undefined;
  let check: AbortController | undefined;
  return {
    mode: 'Supervisor',
    progress,
    lift: (epoch, ended, ranks?: MemberRanks) => {
      const started = new SupervisedWorker(options, progress, standbys, epoch, ranks);
      worker = started;
      void started.ended.then((end) => {
        worker = undefined;
        ended(restartsGroup(options.rules, end) ? { ...end, restartsGroup: true } : end);
      });
    },
    stopWorker: ({ isSilent }) => (isSilent ? worker?.killSilent('Killed') : worker?.stop()),
    killHung: () => worker?.killSilent('Hung'),
    ...(line === undefined
      ? {}
      : {
          preflight: (ended) => {
            check = new AbortController();
            void runPreflight(line, options, check.signal).then(ended);
          },
        }),
    hurry: () => {
      worker?.hurry();
      check?.abort();
    },
    dropStandby: async () => standbys?.drop(),
    forward: (signal) => {
      worker?.forward(signal);
      return worker !== undefined;
    },
  };
}
