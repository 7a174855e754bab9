/** The nodes of a cluster for tests, without containers. */
import type { Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod, type PodStatus } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { type PlayContainer, ScriptedPod } from './scripted-pod.ts';

/** How long the processes of a deleted Pod take to end. */
const STOP_MS = 1000;

export interface NodeScript {
  /** Whether startup probes of sidecars fail. */
  readonly probesFail: () => boolean;
  /** Plays the containers of a Pod; undefined: nobody does. */
  readonly play: (pod: Stored<Pod>) => PlayContainer | undefined;
}

/**
 * Does for all nodes what a kubelet does. Bound Pods run and are ready at once; deleted ones end as
 * Failed after a second, and go. Where somebody plays the containers, they decide that.
 */
export class ScriptedNode {
  /** Nodes that do nothing. */
  readonly #silent = new Set<string>();
  /** Pods whose containers somebody plays, by UID. */
  readonly #played = new Map<string, ScriptedPod>();
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #pods: Informer<Pod>;
  readonly #script: NodeScript;
  #isStopped = false;

  constructor(client: Client, clock: Clock, random: Random, script: NodeScript) {
    this.#script = script;
    this.#client = client;
    this.#clock = clock;
    this.#pods = createInformer<Pod>({ client, resource: PODS, clock, random, logger: SILENT });
    this.#pods.subscribe({
      added: (pod) => this.#see(pod),
      updated: (pod, old) => {
        const isNews =
          pod.spec.nodeName !== old.spec.nodeName ||
          pod.metadata.deletionTimestamp !== old.metadata.deletionTimestamp;
        if (isNews || this.#played.has(pod.metadata.uid)) this.#see(pod);
      },
      deleted: ({ metadata: { uid }, spec: { nodeName = '' } }) => {
        this.#played.get(uid)?.gone();
        if (!this.#silent.has(nodeName)) this.#played.delete(uid);
      },
    });
  }

  /** The node does nothing until it recovers. */
  silence(name: string): void {
    this.#silent.add(name);
    for (const pod of this.#played.values()) if (pod.nodeName === name) pod.freeze();
  }

  /** A silent node does what it has missed, and says that its Pods are ready after all. */
  recover(name: string): void {
    this.#silent.delete(name);
    const left = new Map([...this.#played].filter(([, { nodeName }]) => nodeName === name));
    for (const pod of left.values()) pod.thaw();
    for (const pod of this.#pods.store.values()) {
      if (pod.spec.nodeName !== name) continue;
      const isPlayed = left.delete(pod.metadata.uid);
      const runs = pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined;
      if (runs && !isPlayed) void this.#run(pod);
      else this.#see(pod);
    }
    for (const uid of left.keys()) this.#played.delete(uid);
  }

  #see(pod: Stored<Pod>): void {
    const { nodeName } = pod.spec;
    if (nodeName === undefined || this.#silent.has(nodeName)) return;
    const played = this.#playedOf(pod);
    if (played !== undefined) {
      played.update(pod);
      return;
    }
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.#clock.setTimer(STOP_MS, () => void this.#end(pod));
    } else if (pod.status?.phase === 'Pending') void this.#run(pod);
  }

  #playedOf(pod: Stored<Pod>): ScriptedPod | undefined {
    const { uid } = pod.metadata;
    const known = this.#played.get(uid);
    if (known !== undefined) return known;
    const play = this.#script.play(pod);
    if (play === undefined) return undefined;
    const played = new ScriptedPod({ pod, client: this.#client, clock: this.#clock, play });
    this.#played.set(uid, played);
    return played;
  }

  async finish(pod: Stored<Pod>, exitCode: number): Promise<void> {
    const finishedAt = timeText(this.#clock.now());
    await this.#write(pod, {
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [statusOf(pod, { terminated: { exitCode, finishedAt } })],
    });
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    for (const pod of this.#played.values()) pod.stop();
    return this.#pods.stop();
  }

  async #run(pod: Stored<Pod>): Promise<void> {
    const running = { running: { startedAt: timeText(this.#clock.now()) } };
    const sidecar = pod.spec.initContainers?.find(({ startupProbe }) => startupProbe !== undefined);
    if (sidecar !== undefined && this.#script.probesFail()) {
      await this.#write(pod, {
        phase: 'Pending',
        conditions: [{ type: 'Ready', status: 'False' }],
        initContainerStatuses: [{ ...statusOf(pod, running), name: sidecar.name, started: false }],
      });
      return;
    }
    await this.#write(pod, {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [statusOf(pod, running)],
    });
  }

  async #end(pod: Stored<Pod>): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata;
    if (pod.status?.phase === 'Running') await this.finish(pod, 137);
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    await this.#client
      .delete(PODS, { namespace, name }, options)
      .catch((error) => this.#ignoreGone(error));
  }

  async #write(pod: Stored<Pod>, status: PodStatus): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata;
    const patch = { metadata: { uid }, status };
    const write = this.#client.patch(
      PODS,
      { namespace, name },
      { type: 'merge', patch },
      { subresource: 'status' },
    );
    await write.catch((error) => this.#ignoreGone(error));
  }

  /** The Pod is gone or another one, or the cluster is. */
  #ignoreGone(error: unknown): void {
    if (!this.#isStopped && !isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

function statusOf(
  { spec }: Pod,
  state: {
    running?: { startedAt: string };
    terminated?: { exitCode: number; finishedAt: string };
  },
) {
  const name = spec.containers[0]?.name ?? '';
  return { name, ready: false, restartCount: 0, image: '', imageID: '', state };
}
