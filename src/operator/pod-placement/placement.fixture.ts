import { MemoryCluster } from '../../cluster/memory-cluster.fixture.ts';
import {
  EXCLUSIVE_TOPOLOGY,
  JOB_INDEX,
  JOB_KEY,
  JOBSET_NAME,
  REPLICATED_JOB_NAME,
} from '../../jobset/names.ts';
import { COMPLETION_INDEX } from '../../kube/job.ts';
import type { Stored, StringMap } from '../../kube/meta.ts';
import { PODS, type Pod } from '../../kube/pod.ts';
import { SeededRandom } from '../../runtime/memory/seeded-random.ts';
import { SILENT } from '../../runtime/ports/logger.ts';

export const RACK = 'rack';

/** A cluster without an operator, in which tests make the Pods of exclusive Jobs by themselves. */
export class PlacementCluster extends MemoryCluster {
  readonly runtime = {
    client: this.client,
    clock: this.clock,
    random: new SeededRandom(5),
    logger: SILENT,
  };

  /** UIDs of the Jobs that tests may use; somebody else manages them. */
  readonly jobUids = new Map<JobName, string>();

  override async start(): Promise<void> {
    await super.start();
    for (const name of ['train-w-0', 'other'] as const) {
      const job = await this.createJob({ managedBy: 'example.com/nobody' }, name);
      this.jobUids.set(name, job.metadata.uid);
    }
  }

  createWorker(index: number, more: WorkerOptions = {}): Promise<Stored<Pod>> {
    return this.client.create(PODS, this.workerOf(index, more));
  }

  /** A Pod with the names and labels of Job `train-w-0`, which it belongs to unless `job` says so. */
  workerOf(index: number, options: WorkerOptions = {}): Pod {
    const { nodeSelector = {}, nodeName, annotations = {}, suffix = 'aaaaa' } = options;
    const { job = 'train-w-0' } = options;
    const uid = this.jobUids.get(job) ?? '';
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `train-w-0-${index}-${suffix}`,
        namespace: 'default',
        annotations: {
          [JOBSET_NAME]: 'train',
          [EXCLUSIVE_TOPOLOGY]: RACK,
          [COMPLETION_INDEX]: `${index}`,
          ...annotations,
        },
        labels: {
          [JOBSET_NAME]: 'train',
          [REPLICATED_JOB_NAME]: 'w',
          [JOB_INDEX]: '0',
          [JOB_KEY]: 'key-of-train-w-0',
          [COMPLETION_INDEX]: `${index}`,
        },
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'Job', name: job, uid, controller: true },
        ],
      },
      spec: {
        containers: [{ name: 'main', image: 'none' }],
        nodeSelector,
        ...(nodeName === undefined ? {} : { nodeName }),
      },
    };
  }

  /** Waits for something that happens under the virtual clock. */
  async reached<T>(work: Promise<T>): Promise<T> {
    let hasEnded = false;
    const ended = work.finally(() => {
      hasEnded = true;
    });
    await this.clock.runUntil(() => hasEnded, 60_000);
    return ended;
  }
}

type JobName = 'train-w-0' | 'other';

interface WorkerOptions {
  readonly nodeSelector?: StringMap;
  readonly nodeName?: string;
  readonly job?: JobName;
  readonly annotations?: StringMap;
  /** Of the Pod's name. */
  readonly suffix?: string;
}
