/**
 * Upstream's agent and upstream's controller as far as they take part in the restart of a group
 * (KEP-467). Ours have to get along with everything that they do.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import type { JobSetStatus } from '../../src/jobset/jobset-status.ts';
import {
  IN_PLACE_RESTART_ATTEMPT,
  JOB_INDEX,
  JOBSET_NAME,
  JOBSET_UID,
  REPLICATED_JOB_NAME,
  RESTART_ATTEMPT,
} from '../../src/jobset/names.ts';
import type { AgentRuntime, Member, StartMember } from './training-group.fixture.ts';

/** From the exit of a container to its next start. */
const CONTAINER_RESTART_MS = 300;
/** After a failed pass. */
const RETRY_MS = 200;

/** Upstream's agent in main-container mode: its container is started again after each exit. */
export const upstreamsAgent: StartMember = (pod, slot, runtime, started) =>
  new UpstreamsAgent(pod, slot, runtime, started);

class UpstreamsAgent implements Member {
  readonly slot: string;
  readonly podName: string;
  readonly #pod: Stored<Pod>;
  readonly #runtime: AgentRuntime;
  readonly #started: (epoch: number) => void;
  #process: AgentProcess | undefined;
  #isOver = false;

  constructor(
    pod: Stored<Pod>,
    slot: string,
    runtime: AgentRuntime,
    started: (epoch: number) => void,
  ) {
    this.slot = slot;
    this.podName = pod.metadata.name;
    this.#pod = pod;
    this.#runtime = runtime;
    this.#started = started;
    this.#boot();
  }

  get epoch(): number | undefined {
    return this.#process?.workerEpoch;
  }

  exit(exitCode: number): void {
    if (exitCode === 0) throw new Error('only failures are modelled');
    this.#exited();
  }

  crash(): void {
    this.#exited();
  }

  end(): void {
    this.#isOver = true;
    this.#exited();
  }

  #boot(): void {
    const exit = (): void => this.#exited();
    this.#process = new AgentProcess(this.#pod, this.#runtime, this.#started, exit);
  }

  #exited(): void {
    this.#process?.kill();
    this.#process = undefined;
    if (this.#isOver) return;
    this.#runtime.clock.setTimer(CONTAINER_RESTART_MS, () => {
      if (!this.#isOver) this.#boot();
    });
  }
}

class AgentProcess {
  workerEpoch: number | undefined;
  readonly #pod: Stored<Pod>;
  readonly #runtime: AgentRuntime;
  readonly #started: (epoch: number) => void;
  readonly #exit: () => void;
  readonly #jobSets: Informer<JobSet>;
  #attempt: number | undefined;
  #isBarrierActive = true;
  #isAlive = true;
  #passes: Promise<void> = Promise.resolve();

  constructor(
    pod: Stored<Pod>,
    runtime: AgentRuntime,
    started: (epoch: number) => void,
    exit: () => void,
  ) {
    this.#pod = pod;
    this.#runtime = runtime;
    this.#started = started;
    this.#exit = exit;
    const { metadata } = pod;
    this.#jobSets = createInformer<JobSet>({
      ...runtime,
      resource: JOBSETS,
      namespace: metadata.namespace ?? '',
      fieldSelector: `metadata.name=${metadata.labels?.[JOBSET_NAME]}`,
    });
    const see = (jobSet: Stored<JobSet>): void => {
      this.#passes = this.#passes.then(() => this.#pass(jobSet));
    };
    this.#jobSets.subscribe({ added: see, updated: see, deleted: () => undefined });
  }

  kill(): void {
    this.#isAlive = false;
    this.workerEpoch = undefined;
    void this.#jobSets.stop();
  }

  async #pass(jobSet: Stored<JobSet>): Promise<void> {
    if (!this.#isAlive) return;
    const { currentInPlaceRestartAttempt: current, previousInPlaceRestartAttempt: previous } =
      jobSet.status ?? {};
    if (this.#attempt === undefined) {
      const attempt = current === undefined ? 0 : current + 1;
      if (!(await this.#announce(attempt)) || !this.#isAlive) return;
      this.#attempt = attempt;
    }
    if (previous !== undefined && this.#attempt <= previous) {
      this.#exit();
      return;
    }
    if (this.#isBarrierActive && current === this.#attempt) {
      this.#isBarrierActive = false;
      this.workerEpoch = this.#attempt + 1;
      this.#started(this.workerEpoch);
    }
  }

  async #announce(attempt: number): Promise<boolean> {
    const { name, namespace = '' } = this.#pod.metadata;
    const patch = { metadata: { annotations: { [IN_PLACE_RESTART_ATTEMPT]: String(attempt) } } };
    try {
      await this.#runtime.client.patch(PODS, { namespace, name }, { type: 'merge', patch });
      return true;
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
      return false;
    }
  }
}

/**
 * The status after upstream's controller has written it. A Go program drops all fields that it does
 * not know, so none of ours survives.
 */
export function upstreamsView(status: JobSetStatus): JobSetStatus {
  const { conditions, restarts, restartsCountTowardsMax, terminalState } = status;
  const { previousInPlaceRestartAttempt, currentInPlaceRestartAttempt } = status;
  const replicatedJobsStatus = status.replicatedJobsStatus?.map(
    ({ name, ready, succeeded, failed, active, suspended }) => {
      return { name, ready, succeeded, failed, active, suspended };
    },
  );
  const known = {
    conditions,
    restarts,
    restartsCountTowardsMax,
    terminalState,
    replicatedJobsStatus,
    previousInPlaceRestartAttempt,
    currentInPlaceRestartAttempt,
  };
  const isThere = ([, value]: readonly [string, unknown]): boolean => value !== undefined;
  return Object.fromEntries(Object.entries(known).filter(isThere));
}

interface ControllerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Its one JobSet, with ReplicatedJobs of one Job each. */
  readonly jobSetName: string;
}

/** Upstream's controller for one JobSet in namespace `default`. */
export class UpstreamsController {
  readonly #options: ControllerOptions;
  readonly #pods: Informer<Pod>;
  readonly #jobSets: Informer<JobSet>;
  #isAlive = true;
  #isPassDue = false;
  #passes: Promise<void> = Promise.resolve();

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { jobSetName } = options;
    const shared = { ...options, logger: SILENT, namespace: 'default' };
    const labelSelector = `${JOBSET_NAME}=${jobSetName}`;
    this.#pods = createInformer<Pod>({ ...shared, resource: PODS, labelSelector });
    const fieldSelector = `metadata.name=${jobSetName}`;
    this.#jobSets = createInformer<JobSet>({ ...shared, resource: JOBSETS, fieldSelector });
    const due = (): void => this.#enqueue();
    this.#pods.subscribe({ added: due, updated: due, deleted: due });
    this.#jobSets.subscribe({ added: due, updated: due, deleted: due });
  }

  async stop(): Promise<void> {
    this.#isAlive = false;
    await Promise.all([this.#pods.stop(), this.#jobSets.stop()]);
    await this.#passes;
  }

  #enqueue(): void {
    if (this.#isPassDue) return;
    this.#isPassDue = true;
    this.#passes = this.#passes.then(async () => {
      this.#isPassDue = false;
      try {
        if (this.#isAlive) await this.#pass();
      } catch (error) {
        if (!isReason(error, 'Conflict', 'AlreadyExists')) throw error;
        this.#options.clock.setTimer(RETRY_MS, () => this.#enqueue());
      }
    });
  }

  async #pass(): Promise<void> {
    const jobSet = this.#jobSets.store.get(`default/${this.#options.jobSetName}`);
    if (jobSet === undefined || jobSet.status?.terminalState === 'Failed') return;
    await this.#createJobs(jobSet);
    const status = this.#nextStatus(jobSet);
    if (status === undefined) return;
    const next = {
      ...jobSet,
      status: upstreamsView({ restarts: 0, ...jobSet.status, ...status }),
    };
    await this.#options.client.update(JOBSETS, next, { subresource: 'status' });
  }

  /** Steps A to G. */
  #nextStatus({ spec, status = {} }: Stored<JobSet>): JobSet['status'] | undefined {
    const { maxRestarts = 0 } = spec.failurePolicy ?? {};
    const pods = [...this.#pods.store.values()];
    const counts = pods.flatMap((pod) =>
      [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map(
        ({ restartCount }) => restartCount,
      ),
    );
    if (Math.max(0, ...counts) > maxRestarts) return { terminalState: 'Failed' };
    const attempts = pods.flatMap(({ metadata, status: of }) => {
      const text = metadata.annotations?.[IN_PLACE_RESTART_ATTEMPT];
      return text === undefined || of?.phase === 'Failed' ? [] : [Number(text)];
    });
    const most = Math.max(0, ...attempts);
    const uncounted = (status.restarts ?? 0) - (status.restartsCountTowardsMax ?? 0);
    if (most - uncounted > maxRestarts) return { terminalState: 'Failed' };
    const total = (spec.replicatedJobs ?? []).reduce(
      (sum, { replicas = 1, template }) => sum + replicas * (template.spec.parallelism ?? 1),
      0,
    );
    if (attempts.length === total && attempts.every((attempt) => attempt === most)) {
      return status.currentInPlaceRestartAttempt === most
        ? undefined
        : { currentInPlaceRestartAttempt: most };
    }
    if (most === 0 || most - 1 <= (status.previousInPlaceRestartAttempt ?? -1)) return undefined;
    return { previousInPlaceRestartAttempt: most - 1 };
  }

  async #createJobs({ metadata, spec }: Stored<JobSet>): Promise<void> {
    const { client } = this.#options;
    const { items } = await client.list(JOBS, { namespace: 'default' });
    const existing = new Set(items.map((job) => job.metadata.name));
    for (const { name, template } of spec.replicatedJobs ?? []) {
      const jobName = `${metadata.name}-${name}-0`;
      if (existing.has(jobName)) continue;
      const labels = {
        [JOBSET_NAME]: metadata.name,
        [JOBSET_UID]: metadata.uid,
        [REPLICATED_JOB_NAME]: name,
        [JOB_INDEX]: '0',
        [RESTART_ATTEMPT]: '0',
      };
      const owner = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', controller: true };
      const pod = template.spec.template;
      await client.create(JOBS, {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {
          name: jobName,
          namespace: 'default',
          labels,
          ownerReferences: [{ ...owner, name: metadata.name, uid: metadata.uid }],
        },
        spec: {
          ...template.spec,
          completionMode: 'Indexed',
          template: {
            metadata: { labels, annotations: labels },
            spec: { restartPolicy: 'Never', ...pod.spec },
          },
        },
      });
    }
  }
}
