/**
 * A JobSet of shell workers for tests of restarts. Each worker appends to one file when it starts
 * and when it is told to stop, so that the order of starts and ends over the group can be asserted.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { JOBSET_NAME, RESTART_BACKOFF, RESTART_MODE } from '../../src/jobset/names.ts';
import { COMPLETION_INDEX } from '../../src/kube/job.ts';
import type { Stored } from '../../src/kube/meta.ts';
import { PODS, type Pod } from '../../src/kube/pod.ts';
import { nodeClock } from '../../src/runtime/adapters/node-clock.ts';
import { systemRandom } from '../../src/runtime/adapters/system-random.ts';
import { createInformer, type Informer } from '../../src/runtime/informer.ts';
import { SILENT } from '../../src/runtime/ports/logger.ts';
import { waitFor } from '../../src/runtime/wait-for.ts';
import type { ClusterUnderTest } from './local-cluster.fixture.ts';

const TIMEOUT_MS = 60_000;
const NAMESPACE = 'default';

export type Mode = 'Sidecar' | 'Supervisor';

/** One line of the file: `start RANK PID` or `end RANK PID`. */
export interface Mark {
  readonly what: 'start' | 'end';
  readonly rank: number;
  readonly pid: number;
}

export class WorkerGroup {
  readonly name: string;
  readonly size: number;
  readonly pods: Informer<Pod>;
  readonly jobSets: Informer<JobSet>;
  readonly #cluster: ClusterUnderTest;
  readonly #changed = new Set<() => void>();

  private constructor(cluster: ClusterUnderTest, name: string, size: number) {
    this.#cluster = cluster;
    this.name = name;
    this.size = size;
    const { client } = cluster;
    const common = {
      client,
      clock: nodeClock,
      random: systemRandom,
      logger: SILENT,
      namespace: NAMESPACE,
    };
    this.pods = createInformer({
      ...common,
      resource: PODS,
      labelSelector: `${JOBSET_NAME}=${name}`,
    });
    this.jobSets = createInformer({
      ...common,
      resource: JOBSETS,
      fieldSelector: `metadata.name=${name}`,
    });
    const changed = (): void => {
      for (const check of this.#changed) check();
    };
    this.pods.subscribe({ added: changed, updated: changed, deleted: changed });
    this.jobSets.subscribe({ added: changed, updated: changed, deleted: changed });
  }

  static async start(
    cluster: ClusterUnderTest,
    name: string,
    size: number,
    mode: Mode,
  ): Promise<WorkerGroup> {
    const group = new WorkerGroup(cluster, name, size);
    await cluster.client.create(JOBSETS, group.#manifest(mode));
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
        return { what: what === 'start' ? 'start' : 'end', rank: Number(rank), pid: Number(pid) };
      });
  }

  starts(): readonly Mark[] {
    return this.marks().filter((mark) => mark.what === 'start');
  }

  /** Resolves in the first state for which `condition` holds. Every change of the API is looked at. */
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
      // The file of marks tells nobody that it has grown.
      const poll = setInterval(check, 10);
      const timer = setTimeout(() => {
        const state = JSON.stringify({ status: this.status, marks: this.marks() }, undefined, 1);
        finish(() => reject(new Error(`not within ${TIMEOUT_MS} ms: ${what}\n${state}`)));
      }, TIMEOUT_MS);
      this.#changed.add(check);
      check();
    });
  }

  /** Every member's worker runs, released in `epoch`, for the `epoch`-th time. */
  async running(epoch: number, starts = epoch * this.size): Promise<void> {
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
    for (const pid of ranks.map((rank) => this.pid(rank))) process.kill(pid, 'SIGKILL');
  }

  async remove(): Promise<void> {
    const { client } = this.#cluster;
    await client.delete(
      JOBSETS,
      { namespace: NAMESPACE, name: this.name },
      { propagationPolicy: 'Foreground' },
    );
    const options = { clock: nodeClock, random: systemRandom, timeoutMs: TIMEOUT_MS };
    await waitFor(
      client,
      JOBSETS,
      { namespace: NAMESPACE, name: this.name },
      (one) => one === undefined,
      options,
    );
    await Promise.all([this.pods.stop(), this.jobSets.stop()]);
  }

  get #marksPath(): string {
    return join(this.#cluster.shared, `${this.name}.marks`);
  }

  #manifest(mode: Mode): JobSet {
    const marks = this.#marksPath;
    const script =
      `trap 'echo "end $RANK $$" >> ${marks}; kill $!; exit 0' TERM; ` +
      `echo "start $RANK $$" >> ${marks}; sleep 3600 & wait`;
    return {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: {
        name: this.name,
        namespace: NAMESPACE,
        annotations: { [RESTART_MODE]: mode, [RESTART_BACKOFF]: 'Disabled' },
      },
      spec: {
        failurePolicy: { maxRestarts: 10, restartStrategy: 'InPlaceRestart' },
        replicatedJobs: [
          {
            name: 'w',
            replicas: 1,
            template: {
              spec: {
                parallelism: this.size,
                completions: this.size,
                template: {
                  spec: {
                    restartPolicy: 'Never',
                    terminationGracePeriodSeconds: 2,
                    containers: [
                      {
                        name: 'worker',
                        image: 'sh',
                        command: ['sh', '-c', script],
                        env: [
                          {
                            name: 'RANK',
                            valueFrom: {
                              fieldRef: {
                                fieldPath: `metadata.annotations['${COMPLETION_INDEX}']`,
                              },
                            },
                          },
                        ],
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
