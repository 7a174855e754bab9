/**
 * A JobSet of shell workers, for benchmarks and end-to-end tests of restarts. Each worker appends a
 * line to one file when it starts and when it is told to stop. The file shows the order of starts
 * and ends over the whole group, and each start at once.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOST_ROOT } from '@lockstep/embedded-kubernetes';
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Pod, Toleration } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { createJobSetInformers } from '../cli/jobset-informers.ts';
import { PORTS } from '../cli/ports.ts';
import { JOBSETS, type JobSet, type RestartStrategy } from '../jobset/jobset.ts';
import {
  EPOCH,
  PROCESSES_PER_POD,
  RESTART_BACKOFF,
  RESTART_MODE,
  STANDBY,
} from '../jobset/names.ts';

const TIMEOUT_MS = 180_000;
const NAMESPACE = 'default';
/** More than any test or benchmark needs that does not want a failure. */
const DEFAULT_MAX_RESTARTS = 1000;

export type Mode = 'Sidecar' | 'Supervisor';

export interface WorkerGroupOptions {
  readonly client: Client;
  /** A directory that outlives the Pods and holds the file of marks. */
  readonly directory: string;
  readonly name: string;
  readonly size: number;
  readonly mode: Mode;
  /** Processes that the agent of each member starts; absent: the worker is one, without a rank. */
  readonly processes?: number | undefined;
  /** `InPlaceRestart` by default. */
  readonly strategy?: RestartStrategy;
  readonly maxRestarts?: number;
  /** Tolerations of the Pods, besides those that every Pod gets. */
  readonly tolerations?: readonly Toleration[];
  /** What a worker's shell does last when it is told to stop; by default `exit 143`. */
  readonly onStop?: string;
  /** Annotations of the JobSet, besides its own. */
  readonly annotations?: StringMap | undefined;
  /**
   * If present, workers train: each reports a step to its agent once all of them have done it, and
   * takes this long for the next. So when one stops, all do, as in a collective operation. After a
   * restart they continue where they were.
   */
  readonly stepMs?: number | undefined;
  /** Workers wait for their start as warm standbys do, and have one each. Without `stepMs`. */
  readonly hasStandby?: boolean;
  /** Changes the JobSet before it is created. The whole group still has `size` members. */
  readonly edit?: (jobSet: JobSet) => JobSet;
}

/** One line of the file, such as `start RANK PID`. `ready`: it waits for its start. */
export interface Mark {
  readonly what: 'ready' | 'start' | 'end';
  readonly rank: number;
  readonly pid: number;
}

export class WorkerGroup {
  readonly name: string;
  readonly size: number;
  /** Processes of the group. */
  readonly ranks: number;
  readonly pods: Informer<Pod>;
  readonly jobSets: Informer<JobSet>;
  readonly #options: WorkerGroupOptions;
  readonly #changed = new Set<() => void>();
  /** The newest step that was seen of each rank. */
  readonly #steps = new Map<number, number>();

  private constructor(options: WorkerGroupOptions) {
    const { client, name, size } = options;
    this.#options = options;
    this.name = name;
    this.size = size;
    this.ranks = size * (options.processes ?? 1);
    const ports = { client, ...PORTS };
    const { pods, jobSets } = createJobSetInformers({ namespace: NAMESPACE, name }, ports);
    this.pods = pods;
    this.jobSets = jobSets;
    const changed = (): void => {
      for (const check of this.#changed) check();
    };
    this.pods.subscribe({ added: changed, updated: changed, deleted: changed });
    this.jobSets.subscribe({ added: changed, updated: changed, deleted: changed });
  }

  static async start(options: WorkerGroupOptions): Promise<WorkerGroup> {
    const group = new WorkerGroup(options);
    const { client, edit = (jobSet) => jobSet } = options;
    await client.create(JOBSETS, edit(group.#manifest()));
    return group;
  }

  /** The status that the API shows now. */
  get status(): NonNullable<JobSet['status']> {
    const [jobSet] = this.jobSets.store.values();
    return jobSet?.status ?? {};
  }

  livePods(): readonly Stored<Pod>[] {
    return [...this.pods.store.values()]
      .filter(
        (pod) => pod.metadata.deletionTimestamp === undefined && pod.status?.phase !== 'Failed',
      )
      .sort((a, b) => rankOf(a) - rankOf(b));
  }

  marks(): readonly Mark[] {
    let text: string;
    try {
      text = readFileSync(this.#marksPath, 'utf8');
    } catch {
      return [];
    }
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [what, rank, pid] = line.split(' ');
        return { what: what as Mark['what'], rank: Number(rank), pid: Number(pid) };
      });
  }

  starts(): readonly Mark[] {
    return this.marks().filter((mark) => mark.what === 'start');
  }

  /** Resolves once workers have started so many times, all together. */
  started(times: number): Promise<void> {
    return this.until(`${times} starts`, () => this.starts().length >= times);
  }

  /** Resolves in the first state for which `condition` holds. Looks at every change of the API. */
  until(what: string, condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        this.#changed.delete(check);
        clearInterval(poll);
        clearTimeout(timer);
        settle();
      };
      const check = (): void => {
        if (condition()) finish(resolve);
      };
      // The file of marks sends no event when it grows.
      const poll = setInterval(check, 10);
      const timer = setTimeout(() => {
        finish(() => reject(new Error(`not within ${TIMEOUT_MS} ms: ${what}\n${this.#state()}`)));
      }, TIMEOUT_MS);
      this.#changed.add(check);
      check();
    });
  }

  /** Every member's worker runs, released in `epoch`, for the `epoch`-th time. */
  async running(epoch: number, starts = epoch * this.ranks): Promise<void> {
    await this.until(`all run in epoch ${epoch}`, () => {
      const { syncedEpoch, deprecatedEpoch } = this.status;
      return (
        syncedEpoch === epoch && deprecatedEpoch === epoch - 1 && this.starts().length >= starts
      );
    });
  }

  /** The process of the newest worker of a rank. */
  pid(rank: number): number {
    const mark = this.starts().findLast((one) => one.rank === rank);
    if (mark === undefined) throw new Error(`rank ${rank} has not started`);
    return mark.pid;
  }

  kill(...ranks: readonly number[]): void {
    this.signal('SIGKILL', ...ranks);
  }

  signal(signal: NodeJS.Signals, ...ranks: readonly number[]): void {
    for (const pid of ranks.map((rank) => this.pid(rank))) process.kill(pid, signal);
  }

  /** Every worker does so many more steps. */
  stepped(more: number): Promise<void> {
    const wanted = this.#step() + more;
    return this.until(`all have done step ${wanted}`, () => this.#step() >= wanted);
  }

  /** The newest step that all have done. */
  #step(): number {
    return Math.min(...Array.from({ length: this.size }, (_, rank) => this.#stepOf(rank)));
  }

  #stepOf(rank: number): number {
    const known = this.#steps.get(rank) ?? 0;
    try {
      // The worker may be about to write it, so the file may be empty.
      const step = Number(readFileSync(join(this.#stepsPath, String(rank)), 'utf8'));
      this.#steps.set(rank, Math.max(known, step));
    } catch {
      // It has not begun.
    }
    return this.#steps.get(rank) ?? 0;
  }

  async remove(): Promise<void> {
    const { client } = this.#options;
    const at = { namespace: NAMESPACE, name: this.name };
    await client.delete(JOBSETS, at, { propagationPolicy: 'Foreground' });
    const options = { ...PORTS, timeoutMs: TIMEOUT_MS };
    await waitFor(client, JOBSETS, at, (one) => one === undefined, options);
    await Promise.all([this.pods.stop(), this.jobSets.stop()]);
  }

  /** The state, for the message after a time-out. */
  #state(): string {
    const pods = [...this.pods.store.values()].map(({ metadata, status }) => ({
      name: metadata.name,
      phase: status?.phase,
      announced: metadata.annotations?.[EPOCH],
      deleted: metadata.deletionTimestamp,
    }));
    return JSON.stringify({ status: this.status, pods, marks: this.marks() }, undefined, 1);
  }

  get #marksPath(): string {
    return join(this.#options.directory, `${this.name}.marks`);
  }

  get #stepsPath(): string {
    return join(this.#options.directory, `${this.name}.steps`);
  }

  /** What a worker does until it is told to stop. */
  #work(): string {
    const { stepMs, hasStandby } = this.#options;
    const report = hasStandby ? 'echo 1 >> "$LOCKSTEP_PROGRESS_FILE"; ' : '';
    if (stepMs === undefined) return `${report}sleep 3600 & wait`;
    const steps = this.#stepsPath;
    // A read that times out sleeps without another process, which 64 workers could not afford.
    const pause = (seconds: number): string => `read -r -t ${seconds} -u 9 _`;
    return (
      `exec 9<> <(:); mkdir -p ${steps}; step=0; { read -r step < ${steps}/$RANK; } 2>/dev/null; while :; do ` +
      `${pause(stepMs / 1000)}; step=$((step + 1)); echo $step > ${steps}/$RANK; ` +
      `for ((r = 0; r < ${this.size}; r++)); do ` +
      `until { read -r done < ${steps}/$r; } 2>/dev/null && [ "\${done:-0}" -ge $step ]; do ` +
      `${pause(0.05)}; done; done; ` +
      `echo $step > "\${LOCKSTEP_PROGRESS_FILE:-/dev/null}"; done`
    );
  }

  /** Waits for the start, as the guide on warm standbys has it. */
  #wait(): string {
    if (!this.#options.hasStandby) return '';
    return (
      `echo phase=standby >> "$LOCKSTEP_PROGRESS_FILE"; echo "ready $RANK $pid" >> ${this.#marksPath}; ` +
      'until [ -e "$LOCKSTEP_START_FILE" ]; do sleep 0.02; done; '
    );
  }

  #manifest(): JobSet {
    const { mode, strategy = 'InPlaceRestart', tolerations, hasStandby, processes } = this.#options;
    const annotations = {
      ...this.#options.annotations,
      ...(hasStandby ? { [STANDBY]: 'Warm' } : {}),
      ...(processes === undefined ? {} : { [PROCESSES_PER_POD]: String(processes) }),
    };
    // What trains needs more of its shell than what only waits, which shall start fast.
    const shell = this.#options.stepMs === undefined ? 'sh' : 'bash';
    const { onStop = 'exit 143', maxRestarts = DEFAULT_MAX_RESTARTS } = this.#options;
    const marks = this.#marksPath;
    // An agent that starts several processes gives each its number.
    const fieldPath = `metadata.annotations['${COMPLETION_INDEX}']`;
    // Kubernetes turns `$$` into `$`. In a pid namespace a process has another number than on the
    // machine; only the machine's process table has the latter.
    const script =
      `{ read -r pid rest <${HOST_ROOT}/proc/self/stat; } 2>/dev/null || pid=$$$$; ` +
      `trap 'echo "end $RANK $pid" >> ${marks}; kill $! 2>/dev/null; ${onStop}' TERM; ` +
      `${this.#wait()}echo "rank $RANK runs"; echo "start $RANK $pid" >> ${marks}; ${this.#work()}`;
    return {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: {
        name: this.name,
        namespace: NAMESPACE,
        annotations: { ...annotations, [RESTART_MODE]: mode, [RESTART_BACKOFF]: 'Disabled' },
      },
      spec: {
        failurePolicy: { maxRestarts, restartStrategy: strategy },
        replicatedJobs: [
          {
            name: 'w',
            replicas: 1,
            template: {
              spec: {
                ...(strategy === 'InPlaceRestart' ? {} : { backoffLimit: 0 }),
                parallelism: this.size,
                completions: this.size,
                template: {
                  spec: {
                    restartPolicy: 'Never',
                    terminationGracePeriodSeconds: 2,
                    ...defined({ tolerations }),
                    containers: [
                      {
                        name: 'worker',
                        image: shell,
                        command: [shell, '-c', script],
                        ...(processes === undefined
                          ? { env: [{ name: 'RANK', valueFrom: { fieldRef: { fieldPath } } }] }
                          : {}),
                      },
                    ],
                  },
                },
              },
            },
          },
        ],
      },
    };
  }
}

export function rankOf(pod: Pod): number {
  return Number(pod.metadata.annotations?.[COMPLETION_INDEX]);
}
