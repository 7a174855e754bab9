/**
 * The Pods of a simulated group with their nodes, agents and Job controller, and what passes between
 * them, the operator and its API server, each message with its cost.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { sleep, type Timer, timestamp } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import type { HubGroup, HubMember } from '../../simulator/hub-group/hub-group.ts';
import {
  PODS as ALL_PODS,
  FAN_OUT_MS,
  LEG_MS,
  POD_START_MS,
  PODS_CREATED_PER_SECOND,
  PODS_ENDED_PER_SECOND,
  SIMULATED_MEMBERS,
} from './costs.ts';

const SECOND_MS = 1000;

export interface Member extends HubMember {
  readonly pod: Stored<Pod>;
}

export interface PodsListener {
  /** A status is written that was decided at `decidedMs`. Returns whether it ends an epoch. */
  wrote(status: JobSetStatus, decidedMs: number): boolean;
  /** All Pods of a new Job run. */
  ready(): void;
  /** A member has another node. */
  moved(): void;
  /** A worker is started. */
  started(): void;
  /** The last worker of the group is started. */
  whole(): void;
}

export class SimulatedPods {
  readonly #group: HubGroup;
  /** Else Jobs are recreated, and their Pods are only counted. */
  readonly #isInPlace: boolean;
  readonly #listener: PodsListener;
  /** When the JobSet was created, by the monotonic clock. */
  originMs = 0;
  #jobSetUid = '';
  readonly #members = new Map<number, Member>();
  readonly #nodes = Array.from({ length: SIMULATED_MEMBERS }, (_, slot) => `node-${slot}`);
  #spareNodes = 0;
  #podsMade = 0;
  /** The way from the hub to an agent. */
  #toAgentMs = LEG_MS;
  /** A ping and its answer cost nothing, and arrive at once. */
  #isPinging = false;
  /** The slot of a Pod that will leave its node when its Job is recreated. */
  #moving: number | undefined;
  /** What a timer could not do. */
  #error: Error | undefined;

  constructor(group: HubGroup, isInPlace: boolean, listener: PodsListener) {
    this.#group = group;
    this.#isInPlace = isInPlace;
    this.#listener = listener;
  }

  /** By slot. */
  get members(): ReadonlyMap<number, Member> {
    return this.#members;
  }

  /** Since the creation of the JobSet. */
  get nowMs(): number {
    return this.#group.clock.monotonic() - this.originMs;
  }

  nodeIn(slot: number): string {
    return this.#nodes[slot] ?? '';
  }

  async start(jobSet: JobSet): Promise<void> {
    const { clock, client } = this.#group;
    await this.#group.startOperator({ clock, transport: this.#transport() }, SIMULATED_MEMBERS);
    // The API server tells the time of the creation in whole seconds.
    await clock.advance(SECOND_MS - (clock.now() % SECOND_MS));
    this.originMs = clock.monotonic();
    const { metadata } = await client.create(JOBSETS, jobSet);
    this.#jobSetUid = metadata.uid;
  }

  /** To the next whole millisecond. */
  after(delayMs: number, fire: () => void | Promise<void>): Timer {
    return this.#group.clock.setTimer(Math.round(delayMs), () => {
      Promise.resolve(fire()).catch((error: unknown) => {
        this.#error ??= error instanceof Error ? error : new Error(String(error));
      });
    });
  }

  /** Throws what a timer could not do. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  /** The Job fails, and so will be recreated. A Pod may leave its node then. */
  async failJob(moving: number | undefined): Promise<void> {
    this.#moving = moving;
    const lastTransitionTime = timestamp(this.#group.clock);
    const conditions = ['FailureTarget', 'Failed'].map((type) => {
      return { type, status: 'True', reason: 'BackoffLimitExceeded', lastTransitionTime };
    });
    await this.#patchJob({ active: 0, ready: 0, conditions });
  }

  /** A Pod is taken from its node, and recreated on another. */
  async replace(slot: number): Promise<void> {
    const member = this.#members.get(slot);
    if (member === undefined) return;
    this.#members.delete(slot);
    member.end();
    const at = keyOf(member.pod.metadata);
    await this.#group.client.delete(PODS, at, { gracePeriodSeconds: 0 });
    this.#move(slot);
    await this.#createPod(slot);
  }

  /** A status takes a while to be written, and everything else is free. */
  #transport(): Transport {
    const { transport, clock } = this.#group;
    return {
      send: async (request) => {
        const { method, path, body, signal } = request;
        if (method === 'PUT' && STATUS_PATH.test(path)) {
          const decidedMs = this.nowMs;
          await sleep(clock, Math.round(LEG_MS), signal);
          const { status = {} }: JobSet = JSON.parse(new TextDecoder().decode(body));
          const hasEnded = this.#listener.wrote(status, decidedMs);
          this.#toAgentMs = hasEnded ? LEG_MS + FAN_OUT_MS : LEG_MS;
        }
        const pod = method === 'DELETE' ? POD_PATH.exec(path)?.[1] : undefined;
        const slot = [...this.#members].find(([, member]) => member.pod.metadata.name === pod)?.[0];
        if (slot !== undefined) this.after(0, () => this.replace(slot));
        const response = await transport.send(request);
        if (method === 'POST' && JOBS_PATH.test(path)) this.#createPods();
        if (method === 'DELETE' && JOB_PATH.test(path)) this.#deletePods();
        return response;
      },
    };
  }

  #createPods(): void {
    this.after((ALL_PODS * SECOND_MS) / PODS_CREATED_PER_SECOND, async () => {
      if (this.#isInPlace) for (const slot of this.#nodes.keys()) await this.#createPod(slot);
      this.after(POD_START_MS, async () => {
        if (this.#moving !== undefined) this.#move(this.#moving);
        this.#moving = undefined;
        this.#listener.ready();
        const [active, ready] = [SIMULATED_MEMBERS, SIMULATED_MEMBERS];
        await this.#patchJob({ startTime: timestamp(this.#group.clock), active, ready });
      });
    });
  }

  #deletePods(): void {
    this.after((ALL_PODS * SECOND_MS) / PODS_ENDED_PER_SECOND, async () => {
      const { metadata } = await this.#job();
      const patch = { metadata: { finalizers: null } };
      await this.#group.client.patch(JOBS, keyOf(metadata), { type: 'merge', patch });
    });
  }

  async #patchJob(status: object): Promise<void> {
    const { metadata } = await this.#job();
    const options = { subresource: 'status' } as const;
    await this.#group.client.patch(
      JOBS,
      keyOf(metadata),
      { type: 'merge', patch: { status } },
      options,
    );
  }

  async #job(): Promise<Stored<Job>> {
    const [job] = await this.#group.jobs();
    if (job === undefined) throw new Error('there is no Job');
    return job;
  }

  // The Pods and their agents.

  async #createPod(slot: number): Promise<void> {
    const job = await this.#job();
    const name = `${job.metadata.name}-${slot}-p${++this.#podsMade}`;
    const pod = await this.#group.createPod(job, slot, name, this.#nodes[slot]);
    this.after(POD_START_MS, async () => {
      const member = await this.#group.connect(pod.metadata, this.#jobSetUid, {
        toHub: (type, deliver) => {
          if (type !== 'ping') this.after(LEG_MS, deliver);
          else {
            this.#isPinging = true;
            deliver();
            this.#isPinging = false;
          }
        },
        toAgent: (deliver) => {
          if (this.#isPinging) deliver();
          else this.after(this.#toAgentMs, deliver);
        },
        started: (epoch) => this.#lifted(epoch),
        stopped: () => undefined,
      });
      this.#members.set(slot, { ...member, pod });
      member.agent.greet();
    });
  }

  #lifted(epoch: number): void {
    this.#listener.started();
    const members = [...this.#members.values()];
    const isWhole = members.length === SIMULATED_MEMBERS;
    if (isWhole && members.every(({ agent }) => agent.epoch === epoch)) this.#listener.whole();
  }

  #move(slot: number): void {
    this.#nodes[slot] = `spare-${++this.#spareNodes}`;
    this.#listener.moved();
  }
}

const STATUS_PATH = /\/jobsets\/train\/status(\?|$)/;
const JOBS_PATH = /\/jobs(\?|$)/;
const JOB_PATH = /\/jobs\/[^/?]+(\?|$)/;
const POD_PATH = /\/pods\/([^/?]+)(?:\?|$)/;

function keyOf({ namespace = '', name }: Stored<Job>['metadata']) {
  return { namespace, name };
}
