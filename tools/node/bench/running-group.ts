/** A group on the node: when its workers started, by the container runtime's clock, and what kills one. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Stored } from '@lockstep/kube/meta.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { until } from '../../../src/bench/until.ts';
import { PORTS } from '../../../src/cli/ports.ts';
import { JOBSETS } from '../../../src/jobset/jobset.ts';
import { JOBSET_NAME } from '../../../src/jobset/names.ts';
import { logDirectory, NAMESPACE, processesWith } from '../../../test/node/node.ts';
import { type Group, jobSetOf, type Kind, START, WORKER_OF } from './kinds.ts';

/** For 64 Pods on two busy cores. */
const TIMEOUT_MS = 600_000;
/** The node writes the times, so this is not their precision. */
const LOOK_MS = 100;
/** Between two restarts, so that nothing of the last one is left. */
const GAP_MS = 3_000;
const STANDBY_WAITS = 'a standby waits for the next epoch';

export interface Restart {
  /** From the kill to the last start. */
  readonly ms: number;
  readonly load: string;
}

export class RunningGroup {
  readonly #client: Client;
  readonly #kind: Kind;
  readonly #group: Group;
  /** Where the node keeps the logs of all Pods. */
  #logs = '';
  #epoch = 1;

  private constructor(client: Client, kind: Kind, group: Group) {
    this.#client = client;
    this.#kind = kind;
    this.#group = group;
  }

  /** Resolves when all run, with the time that this took. */
  static async start(client: Client, kind: Kind, group: Group) {
    const running = new RunningGroup(client, kind, group);
    const createdAt = Date.now();
    await client.create(JOBSETS, jobSetOf(kind, group));
    await running.#at('are on the node', async () => {
      const [pod] = await running.pods();
      if (pod?.spec?.nodeName === undefined) return false;
      running.#logs = dirname(dirname(logDirectory(pod, 'worker')));
      return true;
    });
    const ms = (await running.#startedAfter(createdAt)) - createdAt;
    await running.#settle();
    return { running, ms };
  }

  /** In the order of their ranks, without those that end. */
  async pods(): Promise<readonly Stored<Pod>[]> {
    const labelSelector = `${JOBSET_NAME}=${this.#group.name}`;
    const { items } = await this.#client.list(PODS, { namespace: NAMESPACE, labelSelector });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .toSorted((a, b) => rankOf(a) - rankOf(b));
  }

  /** Kills the worker of a rank, and resolves some time after all have started again. */
  async restart(rank: number): Promise<Restart> {
    const pods = await this.pods();
    const [worker] = processesWith(`${WORKER_OF}=${pods[rank]?.metadata.name}`).filter(
      ({ command }) => command[0] === 'sh',
    );
    if (worker === undefined) throw new Error(`rank ${rank} has no worker`);
    const load = loadAverage();
    const killedAt = Date.now();
    process.kill(worker.pid, 'SIGKILL');
    const startedAt = await this.#startedAfter(killedAt);
    this.#epoch++;
    await this.#settle();
    this.#expectOneStart(killedAt);
    return { ms: startedAt - killedAt, load };
  }

  /** How often the kubelet has said that it waits with a container. */
  async backOffs(): Promise<number> {
    const fieldSelector = 'reason=BackOff';
    const { items } = await this.#client.list(EVENTS, { namespace: NAMESPACE, fieldSelector });
    return items.filter(({ regarding }) => regarding.name?.startsWith(`${this.#group.name}-`))
      .length;
  }

  async remove(): Promise<void> {
    const at = { namespace: NAMESPACE, name: this.#group.name };
    await this.#client.delete(JOBSETS, at, { propagationPolicy: 'Foreground' });
    const options = { ...PORTS, timeoutMs: TIMEOUT_MS };
    await waitFor(this.#client, JOBSETS, at, (one) => one === undefined, options);
    await this.#at('are gone', async () => (await this.pods()).length === 0);
  }

  /** Resolves some time after all Pods are ready, and have standbys if they shall. */
  async #settle(): Promise<void> {
    let pods: readonly Stored<Pod>[] = [];
    await this.#at('are ready', async () => {
      pods = await this.pods();
      return pods.length === this.#group.size && pods.every(isReady);
    });
    if (this.#kind.hasStandby) {
      await this.#at('have standbys', () =>
        pods.every((pod) => this.#linesOf(pod, STANDBY_WAITS).length >= this.#epoch),
      );
    }
    await delay(GAP_MS);
  }

  /** Resolves with the time of the last start when each rank has started after `timeMs`. */
  async #startedAfter(timeMs: number): Promise<number> {
    let last = 0;
    await this.#at('have started', () => {
      const starts = this.#startsByRank();
      const newest = starts.map((times) => Math.max(0, ...times));
      last = Math.max(...newest);
      return newest.every((time) => time > timeMs);
    });
    return last;
  }

  #expectOneStart(afterMs: number): void {
    const counts = this.#startsByRank().map((times) => times.filter((at) => at > afterMs).length);
    const odd = counts.findIndex((count) => count !== 1);
    if (odd >= 0) throw new Error(`one restart started rank ${odd} ${counts[odd]} times`);
  }

  #startsByRank(): readonly (readonly number[])[] {
    const { name, size } = this.#group;
    const directories = readdirSync(this.#logs);
    return Array.from({ length: size }, (_, rank) =>
      directories
        .filter((each) => each.startsWith(`${NAMESPACE}_${name}-w-0-${rank}-`))
        .flatMap((each) => timesIn(join(this.#logs, each, 'worker'), ` ${START}`)),
    );
  }

  #linesOf(pod: Stored<Pod>, text: string): readonly number[] {
    return timesIn(logDirectory(pod, 'worker'), text);
  }

  #at(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const { name, size } = this.#group;
    const waits = { timeoutMs: TIMEOUT_MS, pollMs: LOOK_MS };
    return until(`${size} Pods of ${name} ${what}`, condition, waits);
  }
}

export function loadAverage(): string {
  return readFileSync('/proc/loadavg', 'utf8').split(' ')[0] ?? '';
}

function rankOf({ metadata }: Pod): number {
  return Number(metadata.annotations?.[COMPLETION_INDEX]);
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
}

/** None once the kubelet has removed the file. */
function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** When a container, in all of its runs, wrote lines that contain `text`. */
function timesIn(directory: string, text: string): readonly number[] {
  return filesIn(directory)
    .flatMap((file) => linesOf(join(directory, file)))
    .filter((line) => line.includes(text))
    .map((line) => Date.parse(line.slice(0, line.indexOf(' '))));
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
