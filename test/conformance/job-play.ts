/**
 * Plays the life of one Job against a cluster, in the parts of its users and of the kubelet, and
 * records what the Job controller does, without names, UIDs and times, which are chance.
 */

import type { ObjectMeta, Stored, StringMap } from '@lockstep/kube/meta.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { COMPLETION_INDEX, JOBS, type Job, type JobSpec } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod, type PodStatus } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { type JobNote, JobNotes, type PodNote } from './job-notes.ts';

/** Where a play takes place: a namespace and its clock. */
export interface Stage {
  readonly client: Client;
  readonly namespace: string;
  now(): number;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
}

export interface JobScenario {
  readonly name: string;
  readonly spec: Partial<JobSpec>;
  readonly steps: readonly Step[];
}

type Step = readonly [name: string, act: (play: JobPlay) => Promise<void>];

/** The result of a scenario. */
export interface PlayedJob {
  readonly name: string;
  /** After each step, once nothing has moved for a while. */
  readonly steps: readonly {
    readonly step: string;
    readonly job: JobNote;
    readonly pods: readonly PodNote[];
  }[];
  /** Every status that a watch of the Job showed, in order. */
  readonly statuses: readonly JobNote[];
  /** `Type Reason: note` of each Event of the Job, sorted. */
  readonly events: readonly string[];
}

/** The node that all Pods name from the start, so that no scheduler takes part. */
export const NODE_NAME = 'n1';
const JOB_NAME = 'job';
/** Kubernetes' controller looks at a Job at most once a second. */
const QUIET_MS = 2200;
const POLL_MS = 200;
const SETTLE_LIMIT_MS = 60_000;

export async function playJob(scenario: JobScenario, stage: Stage): Promise<PlayedJob> {
  const play = new JobPlay(stage);
  const job = await play.create(scenario.spec);
  const statuses = play.follow(job);
  const steps: PlayedJob['steps'][number][] = [{ step: 'created', ...(await play.settled()) }];
  for (const [step, act] of scenario.steps) {
    await act(play);
    steps.push({ step, ...(await play.settled()) });
  }
  return { name: scenario.name, steps, statuses: statuses.stop(), events: await play.events() };
}

/** Selects Pods that have not ended: by index, the first ones by name, or those in deletion. */
type Which = { readonly index: number } | { readonly any: number } | 'deleted';

export class JobPlay {
  readonly #stage: Stage;
  readonly #notes = new JobNotes();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  create(spec: Partial<JobSpec>): Promise<Stored<Job>> {
    const { client, namespace } = this.#stage;
    const podSpec = {
      restartPolicy: 'Never',
      nodeName: NODE_NAME,
      containers: [{ name: 'main', image: 'none' }],
    } as const;
    return client.create(JOBS, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: JOB_NAME, namespace },
      spec: { ...spec, template: spec.template ?? { spec: podSpec } },
    });
  }

  /** Pods begin to run, and are ready by default. */
  async run(which: Which, { ready = true, restarts = 0 } = {}): Promise<void> {
    for (const pod of await this.#live(which)) {
      await this.#tell(pod, {
        phase: 'Running',
        conditions: [this.#condition('Ready', ready)],
        containerStatuses: [this.#container({ running: { startedAt: this.#now() } }, restarts)],
      });
    }
  }

  /** The only container of each Pod ends. */
  async end(which: Which, exitCode: number, conditionType?: string): Promise<void> {
    const terminated = { exitCode, startedAt: this.#now(), finishedAt: this.#now() };
    for (const pod of await this.#live(which)) {
      await this.#tell(pod, {
        phase: exitCode === 0 ? 'Succeeded' : 'Failed',
        conditions: [
          this.#condition('Ready', false),
          ...(conditionType === undefined ? [] : [this.#condition(conditionType, true)]),
        ],
        containerStatuses: [this.#container({ terminated })],
      });
    }
  }

  /** Pods fail before any of their containers has started. */
  async evict(which: Which): Promise<void> {
    for (const pod of await this.#live(which)) {
      await this.#tell(pod, { phase: 'Failed', reason: 'Evicted', message: 'The node is full.' });
    }
  }

  /** A user deletes Pods. */
  async delete(which: Which): Promise<void> {
    const { client } = this.#stage;
    for (const { metadata } of await this.#live(which)) await client.delete(PODS, keyOf(metadata));
  }

  /** The kubelet has finished with Pods in deletion. */
  async release(): Promise<void> {
    const { client } = this.#stage;
    for (const { metadata } of await this.#pods()) {
      if (metadata.deletionTimestamp === undefined) continue;
      const options = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } };
      await client.delete(PODS, keyOf(metadata), options).catch(ignoreGone);
    }
  }

  async change(spec: Readonly<Record<string, unknown>>): Promise<void> {
    const { client, namespace } = this.#stage;
    const at = { namespace, name: JOB_NAME };
    await client.patch(JOBS, at, { type: 'merge', patch: { spec } });
  }

  async deleteJob(propagationPolicy: 'Orphan' | 'Background' | 'Foreground'): Promise<void> {
    const { client, namespace } = this.#stage;
    await client.delete(JOBS, { namespace, name: JOB_NAME }, { propagationPolicy });
  }

  async label(which: Which, labels: Readonly<Record<string, string | null>>): Promise<void> {
    const { client } = this.#stage;
    for (const { metadata } of await this.#live(which)) {
      await client.patch(PODS, keyOf(metadata), { type: 'merge', patch: { metadata: { labels } } });
    }
  }

  /** A user removes the controller's finalizer. */
  async untrack(which: Which): Promise<void> {
    const { client } = this.#stage;
    for (const { metadata } of await this.#live(which)) {
      const patch = { metadata: { finalizers: null } };
      await client.patch(PODS, keyOf(metadata), { type: 'merge', patch });
    }
  }

  /** Creates a Pod without a controller. */
  async bare(labels: StringMap, more: Pick<ObjectMeta, 'annotations' | 'finalizers'> = {}) {
    const { client, namespace } = this.#stage;
    await client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { generateName: 'bare-', namespace, labels, ...more },
      spec: { nodeName: NODE_NAME, containers: [{ name: 'main', image: 'none' }] },
    });
  }

  pass(seconds: number): Promise<void> {
    return this.#stage.pass(seconds * 1000);
  }

  /** The state once nothing moves any more. */
  async settled(): Promise<{ readonly job: JobNote; readonly pods: readonly PodNote[] }> {
    let last = '';
    let quietMs = 0;
    for (let passedMs = 0; quietMs < QUIET_MS; passedMs += POLL_MS) {
      if (passedMs > SETTLE_LIMIT_MS) throw new Error('the Job does not come to rest');
      await this.#stage.pass(POLL_MS);
      const seen = JSON.stringify([await this.#job(), await this.#pods()]);
      quietMs = seen === last ? quietMs + POLL_MS : 0;
      last = seen;
    }
    return {
      job: this.#notes.job(await this.#job()),
      pods: this.#notes.pods(await this.#pods()),
    };
  }

  follow({ metadata }: Stored<Job>): { stop(): readonly JobNote[] } {
    const { client, namespace } = this.#stage;
    const stopping = new AbortController();
    const seen: JobNote[] = [];
    const fieldSelector = `metadata.name=${JOB_NAME}`;
    const { resourceVersion } = metadata;
    const options = { namespace, fieldSelector, resourceVersion, signal: stopping.signal };
    const read = async (): Promise<void> => {
      for await (const event of client.watch(JOBS, options)) {
        if (event.type !== 'MODIFIED') continue;
        const note = this.#notes.job(event.object);
        if (JSON.stringify(note) !== JSON.stringify(seen.at(-1))) seen.push(note);
      }
    };
    read().catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error;
    });
    return {
      stop: () => {
        stopping.abort();
        return seen;
      },
    };
  }

  async events(): Promise<readonly string[]> {
    const { client, namespace } = this.#stage;
    const { items } = await client.list(EVENTS, { namespace });
    return items
      .filter(({ regarding }) => regarding.kind === JOBS.kind)
      .map(({ type, reason, note }) => `${type} ${reason}: ${this.#notes.text(note)}`)
      .toSorted();
  }

  async #job(): Promise<Stored<Job> | undefined> {
    const { client, namespace } = this.#stage;
    const name = JOB_NAME;
    return client.get(JOBS, { namespace, name }).catch(ignoreGone);
  }

  async #pods(): Promise<readonly Stored<Pod>[]> {
    const { client, namespace } = this.#stage;
    const { items } = await client.list(PODS, { namespace });
    return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  async #live(which: Which): Promise<readonly Stored<Pod>[]> {
    const live = (await this.#pods()).filter(
      ({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
    );
    const chosen = choose(live, which);
    if (chosen.length === 0) throw new Error(`no Pod is ${JSON.stringify(which)}`);
    return chosen;
  }

  async #tell({ metadata }: Stored<Pod>, status: PodStatus): Promise<void> {
    const patch = { status };
    const body = { type: 'merge', patch } as const;
    await this.#stage.client.patch(PODS, keyOf(metadata), body, { subresource: 'status' });
  }

  #now(): string {
    return timeText(this.#stage.now());
  }

  #condition(type: string, isTrue: boolean) {
    return { type, status: isTrue ? 'True' : 'False', lastTransitionTime: this.#now() } as const;
  }

  #container(state: NonNullable<PodStatus['containerStatuses']>[number]['state'], restarts = 0) {
    const image = 'none';
    const ready = state?.running !== undefined;
    return { name: 'main', ready, restartCount: restarts, image, imageID: '', state: state ?? {} };
  }
}

function choose(pods: readonly Stored<Pod>[], which: Which): readonly Stored<Pod>[] {
  if (which === 'deleted') {
    return pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  }
  if ('any' in which) return pods.slice(0, which.any);
  const index = String(which.index);
  return pods.filter(({ metadata }) => metadata.annotations?.[COMPLETION_INDEX] === index);
}

function keyOf({ namespace = '', name }: Stored<Pod>['metadata']) {
  return { namespace, name };
}

function ignoreGone(error: unknown): undefined {
  if (isReason(error, 'NotFound', 'Conflict')) return undefined;
  throw error;
}
