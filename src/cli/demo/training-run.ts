/**
 * One training run on a cluster: creates the JobSet, watches its Pods and their logs, and kills
 * workers at the given steps. It resolves with all observations once the JobSet is finished or, if
 * asked, once training has continued after the last kill.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { createJobSetInformers } from '../jobset-informers.ts';
import { agentLineOf } from '../jobset-logs/epoch-lines.ts';
import { readLines } from '../log-lines.ts';
import { removeJobSet } from './jobset-removal.ts';
import { measureRestarts, type RunEvent } from './measurement.ts';
import type { DemoMode, DemoStandby, DemoStrategy } from './options.ts';
import type { MeasuredRestart } from './report.ts';
import { Standbys } from './standbys.ts';
import { parseTrainingLine, type TrainingLine } from './training-log.ts';

const WORKER = 'worker';
const CONDITION_TIMEOUT_MS = 120_000;
/** They prepare at a low priority, beside workers that use all CPUs. */
const STANDBYS_TIMEOUT_MS = 60_000;
/** The log of one Pod may be so far behind the log of another. */
const LOGS_BEHIND_MS = 10_000;

export interface TrainingRun {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly jobSet: JobSet;
  readonly strategy: DemoStrategy;
  readonly mode: DemoMode;
  /** Kill only when every worker has a standby that is ready. */
  readonly standby: DemoStandby;
  readonly workers: number;
  readonly kill: { readonly rank: number; readonly steps: readonly number[] } | undefined;
  /** End the run after the first step that follows the last kill. */
  readonly stopAfterRecovery: boolean;
  /** Delete the JobSet at the end; an embedded cluster disappears with it. */
  readonly deleteAtEnd: boolean;
  /**
   * `pid` is the process's own number, which may be of a pid namespace. Returns the machine's
   * number, if the process exists.
   */
  readonly killProcess: (pid: number, container: string) => number | undefined;
  readonly onLine: (line: TrainingLine) => void;
  /** The first kill waits for standbys. */
  readonly onWait: () => void;
  readonly onKill: (rank: number, pid: number, step: number) => void;
  readonly signal: AbortSignal;
}

export interface TrainingResult {
  /** Undefined if the run was stopped before its end. */
  readonly accuracy: number | undefined;
  readonly steps: number;
  readonly restarts: readonly MeasuredRestart[];
}

export class TrainingFailed extends Error {
  override readonly name = 'TrainingFailed';
}

export async function runTraining(run: TrainingRun): Promise<TrainingResult> {
  const observer = new RunObserver(run);
  try {
    return await observer.run();
  } finally {
    await observer.close();
  }
}

class RunObserver {
  private readonly options: TrainingRun;
  private readonly stop = new AbortController();
  private readonly events: RunEvent[] = [];
  private readonly followed = new Set<string>();
  private readonly follows: Promise<void>[] = [];
  private readonly podOfRank = new Map<
    number,
    { readonly pod: string; readonly uid: string; pid: number | undefined }
  >();
  private readonly killsLeft: number[];
  private readonly standbys = new Standbys();
  private waitsSince: number | undefined;
  /** Monotonic. */
  private recoveredMs: number | undefined;
  private mayExist = false;
  private readonly key: { readonly namespace: string; readonly name: string };
  private readonly pods: Informer<Pod>;
  private readonly jobSets: Informer<JobSet>;
  private settle: (error: Error | undefined) => void = () => undefined;
  private readonly settled: Promise<void>;

  constructor(options: TrainingRun) {
    this.options = options;
    this.killsLeft = [...(options.kill?.steps ?? [])];
    this.settled = new Promise((resolve, reject) => {
      this.settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.settled.catch(() => undefined);
    const { name = '', namespace = 'default' } = options.jobSet.metadata;
    this.key = { namespace, name };
    const { pods, jobSets } = createJobSetInformers(this.key, options);
    this.pods = pods;
    this.jobSets = jobSets;
  }

  async run(): Promise<TrainingResult> {
    const { options } = this;
    this.pods.subscribe({
      added: (pod) => this.sawPod(pod, false),
      updated: (pod) => this.sawPod(pod, false),
      deleted: (pod) => this.sawPod(pod, true),
    });
    this.jobSets.subscribe({
      added: (jobSet) => this.sawJobSet(jobSet),
      updated: (jobSet) => this.sawJobSet(jobSet),
    });
    options.signal.addEventListener('abort', () => this.settle(options.signal.reason as Error), {
      once: true,
    });
    await this.create();
    await this.settled;
    const steps = this.events.flatMap((event) =>
      event.kind === 'line' && event.line.kind === 'step' ? [event.line.step] : [],
    );
    const end = this.events.find(
      (event) => event.kind === 'line' && event.line.kind === 'accuracy',
    );
    const [jobSet] = this.jobSets.store.values();
    return {
      accuracy:
        end?.kind === 'line' && end.line.kind === 'accuracy' ? end.line.accuracy : undefined,
      steps: Math.max(0, ...steps),
      restarts: measureRestarts({ ...options, events: this.events, status: jobSet?.status }),
    };
  }

  private async create(): Promise<void> {
    const { client, jobSet, signal } = this.options;
    this.mayExist = true;
    try {
      await client.create(JOBSETS, jobSet, { signal });
    } catch (error) {
      // A refusal is certain; an interrupted or unanswered request may have been carried out.
      if (error instanceof ApiStatusError && error.code < 500) this.mayExist = false;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.stop.abort(new Error('the run is over'));
    await Promise.all([this.pods.stop(), this.jobSets.stop(), ...this.follows]);
    if (this.mayExist && this.options.deleteAtEnd) {
      await removeJobSet(this.options.client, this.key, this.options);
    }
  }

  private sawPod(pod: Stored<Pod>, isGone: boolean): void {
    const statuses = pod.status?.containerStatuses ?? [];
    const worker = statuses.find((status) => status.name === WORKER);
    const ended = worker?.state?.terminated ?? worker?.lastState?.terminated;
    this.events.push({
      kind: 'pod',
      atMs: this.options.clock.now(),
      name: pod.metadata.name,
      uid: pod.metadata.uid,
      isRunning:
        statuses.length > 0 && statuses.every((status) => status.state?.running !== undefined),
      isGone,
      failure:
        ended === undefined || ended.exitCode === 0
          ? undefined
          : {
              pod: pod.metadata.name,
              container: WORKER,
              exitCode: ended.exitCode,
              signal: null,
              reason: ended.reason ?? 'Error',
            },
    });
    const rank = Number(pod.metadata.annotations?.[COMPLETION_INDEX]);
    if (this.podOfRank.get(rank)?.pod !== pod.metadata.name && !isGone) {
      const { name, uid } = pod.metadata;
      this.podOfRank.set(rank, { pod: name, uid, pid: undefined });
    }
    if (worker?.containerID === undefined || this.followed.has(worker.containerID)) return;
    this.followed.add(worker.containerID);
    this.follows.push(this.follow(pod.metadata.name));
  }

  /** Reads a container's log to its end. If its Pod goes meanwhile, the log just ends. */
  private async follow(pod: string): Promise<void> {
    const { client } = this.options;
    const key = { ...this.key, name: pod };
    const options = { container: WORKER, follow: true, signal: this.stop.signal };
    try {
      for await (const { bytes } of readLines(client.logs(key, options))) {
        const agentLine = agentLineOf(bytes);
        if (agentLine !== undefined) this.sawAgentLine(pod, agentLine.message);
        const line = parseTrainingLine(bytes.toString());
        if (line !== undefined) this.sawLine(line);
      }
    } catch (error) {
      if (this.stop.signal.aborted) return;
      this.lastLogError = error;
    }
  }

  /** Kept for the message of a run that never ends: a lost log alone is not a failure. */
  private lastLogError: unknown;

  private sawAgentLine(pod: string, message: string): void {
    if (!this.standbys.took(pod, message)) return;
    this.events.push({ kind: 'promoted', atMs: this.options.clock.now(), pod });
  }

  private sawLine(line: TrainingLine): void {
    this.events.push({ kind: 'line', atMs: this.options.clock.now(), line });
    this.options.onLine(line);
    if (line.kind === 'process') {
      const entry = this.podOfRank.get(line.rank);
      if (entry !== undefined) entry.pid = line.pid;
    }
    if (line.kind !== 'step') return;
    const next = this.killsLeft[0];
    if (next !== undefined && line.step >= next) {
      if (this.mayKill()) this.kill(line.step);
    } else if (next === undefined && this.options.stopAfterRecovery) this.stopIfRecovered();
  }

  private mayKill(): boolean {
    const { clock, standby, workers, onWait } = this.options;
    if (standby === null || this.standbys.ready === workers) return true;
    if (this.waitsSince === undefined) onWait();
    this.waitsSince ??= clock.monotonic();
    if (clock.monotonic() - this.waitsSince < STANDBYS_TIMEOUT_MS) return false;
    const told = `${this.standbys.ready} of ${workers} warm standbys were ready`;
    this.settle(new TrainingFailed(`${told} after ${STANDBYS_TIMEOUT_MS / 1000} s`));
    return false;
  }

  private kill(step: number): void {
    const rank = this.options.kill?.rank ?? 0;
    const entry = this.podOfRank.get(rank);
    if (entry?.pid === undefined) return;
    const atMs = this.options.clock.now();
    const pid = this.options.killProcess(entry.pid, `${entry.uid}/${WORKER}`);
    if (pid === undefined) return;
    this.killsLeft.shift();
    this.waitsSince = undefined;
    this.recoveredMs = undefined;
    this.events.push({ kind: 'killed', atMs, pod: entry.pod });
    this.options.onKill(rank, pid, step);
  }

  private stopIfRecovered(): void {
    const killed = this.events.findLastIndex((event) => event.kind === 'killed');
    const started = this.events.findIndex(
      (event, index) => index > killed && event.kind === 'line' && event.line.kind === 'start',
    );
    if (killed < 0 || started < 0) return;
    const { clock, standby, workers } = this.options;
    this.recoveredMs ??= clock.monotonic();
    const promoted = this.events.slice(killed).filter(({ kind }) => kind === 'promoted').length;
    const isTold = standby === null || promoted >= workers;
    if (isTold || clock.monotonic() - this.recoveredMs > LOGS_BEHIND_MS) this.settle(undefined);
  }

  private sawJobSet(jobSet: Stored<JobSet>): void {
    const condition = (type: string) =>
      jobSet.status?.conditions?.find((one) => one.type === type && one.status === 'True');
    const failed = condition('Failed');
    if (failed !== undefined) {
      this.settle(new TrainingFailed(`the JobSet failed: ${failed.reason}: ${failed.message}`));
    }
    // For example for a mode for which the nodes of this cluster are too old.
    const rejected = condition('Rejected');
    if (rejected !== undefined) {
      this.settle(new TrainingFailed(`the JobSet is rejected: ${rejected.message}`));
    }
    if (condition('Completed') === undefined) return;
    // The log of the last step may still be on its way when the condition is seen.
    void this.lastLine().then(() => this.settle(undefined), this.settle);
  }

  private async lastLine(): Promise<void> {
    const { clock, signal } = this.options;
    const deadline = clock.monotonic() + CONDITION_TIMEOUT_MS;
    while (clock.monotonic() < deadline && !signal.aborted) {
      const done = Promise.all(this.follows).then(() => true);
      const waited = new Promise<boolean>((resolve) => clock.setTimer(1000, () => resolve(false)));
      if (await Promise.race([done, waited])) return;
    }
    throw new TrainingFailed('the log of the finished run did not end', {
      cause: this.lastLogError,
    });
  }
}
