/** The agent of one Pod as a supervisor, and a worker that runs until somebody ends it. */
import type { Agent, Body } from '../agent/agent.ts';
import type { LeaveReason } from '../agent/barrier-state.ts';
import type { OwnEnd } from '../agent/worker-exit.ts';
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';
import type { Exit } from '../jobset/worker-end/worker-end.ts';
import {
  type AgentProcess,
  PodAgents,
  type PodAgentsOptions,
  WatchedProgress,
} from './pod-agents.ts';

export interface SupervisedPodOptions extends PodAgentsOptions {
  readonly told: WorkerListener;
  /** How long the worker takes to end once it is to stop; by default no time. */
  readonly stopMs?: () => number;
}

export interface WorkerListener {
  started(epoch: number, ranks?: MemberRanks): void;
  /** The agent stops the worker, because the epoch is over. */
  stopped?(epoch: number): void;
  ended?(epoch: number, exit: Exit): void;
  /** The agent has left its container; undefined: it could not continue. */
  left?(reason: LeaveReason | undefined): void;
}

export class SupervisedPod {
  readonly #options: SupervisedPodOptions;
  readonly #agents: PodAgents;
  #agent: Agent;
  #process: AgentProcess;
  #progress: WatchedProgress;
  #epoch: number | undefined;
  #ranks: MemberRanks | undefined;
  #ended: Parameters<Body['lift']>[1] | undefined;

  constructor(options: SupervisedPodOptions) {
    this.#options = options;
    this.#agents = new PodAgents(options);
    [this.#process, this.#agent, this.#progress] = this.#boot();
  }

  /** The epoch in which the worker runs; undefined if none does. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** The numbers of the ranks that run; undefined: the worker is none. */
  get ranks(): MemberRanks | undefined {
    return this.#ranks;
  }

  /** `local`: by this rank of the worker, which takes its peers with it. */
  exit(exit: Exit, local?: number): void {
    const isFailure = 'signal' in exit || exit.exitCode !== 0;
    const named = this.#named(local);
    this.#exited({ how: 'Unknown', exit, ...named, ...(isFailure && { restartsGroup: true }) });
  }

  /** The worker, or this rank of it, writes a line about its progress. */
  report(line: string, local?: number): void {
    this.#progress.report(line, local);
  }

  /** The agent gets SIGTERM, and passes it on. */
  stop(): void {
    this.#agent.stop('SIGTERM');
  }

  /** The worker ends of the signal that it got. */
  endSoon(): void {
    this.#endSoon(() => this.exit({ signal: 'SIGTERM' }));
  }

  /** All processes are gone at once. */
  die(): void {
    this.#process.channel.close();
    const epoch = this.#epoch;
    this.#epoch = undefined;
    this.#ended = undefined;
    if (epoch !== undefined) this.#options.told.ended?.(epoch, { signal: 'SIGKILL' });
  }

  /** The container dies, and is started again. `keeps`: the share of the marker's file that is left. */
  crash(keeps = 1): void {
    this.die();
    this.#agents.tear(keeps);
    [this.#process, this.#agent, this.#progress] = this.#boot();
  }

  #boot(): [AgentProcess, Agent, WatchedProgress] {
    const { told } = this.#options;
    const { process, agent, body } = this.#agents.start(
      (process) => this.#bodyOf(process),
      (reason) => told.left?.(reason),
    );
    return [process, agent, body.progress];
  }

  #bodyOf({ clock }: AgentProcess): Body & { readonly progress: WatchedProgress } {
    const { told } = this.#options;
    const progress = new WatchedProgress(clock);
    return {
      mode: 'Supervisor',
      lift: (epoch, ended, ranks) => {
        progress.begin(clock.monotonic());
        this.#epoch = epoch;
        this.#ranks = ranks;
        this.#ended = ended;
        for (let local = 0; local < (ranks?.processes ?? 0); local++) {
          progress.numbered(local, (ranks?.firstRank ?? 0) + local);
        }
        told.started(epoch, ranks);
      },
      progress,
      stopWorker: () => {
        if (this.#epoch !== undefined) told.stopped?.(this.#epoch);
        this.#endSoon(() => this.#exited({ how: 'Unknown', exit: { signal: 'SIGTERM' } }));
      },
      killHung: () => {
        const silentMs = Math.round(progress.silentMs);
        const named = this.#named(progress.mostSilent.local);
        const exit = { signal: 'SIGKILL' };
        this.#exited({ how: 'Hung', exit, ...named, silentMs, restartsGroup: true });
      },
      hurry: () => undefined,
    };
  }

  #endSoon(end: () => void): void {
    const delayMs = this.#options.stopMs?.() ?? 0;
    const ended = this.#ended;
    if (delayMs === 0) end();
    else this.#process.clock.setTimer(delayMs, () => this.#ended === ended && end());
  }

  #named(local: number | undefined): Pick<OwnEnd, 'local' | 'rank'> {
    if (this.#ranks === undefined || local === undefined) return {};
    return { local, rank: this.#ranks.firstRank + local };
  }

  #exited(known: Omit<OwnEnd, 'epoch' | 'atMs'>): void {
    const epoch = this.#epoch;
    const ended = this.#ended;
    if (epoch === undefined) return;
    this.#epoch = undefined;
    this.#ended = undefined;
    this.#options.told.ended?.(epoch, known.exit);
    ended?.({ ...known, epoch, atMs: this.#process.clock.monotonic() });
  }
}
