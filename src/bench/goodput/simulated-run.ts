/**
 * A run of a simulated group with its failures: planner and barriers under virtual time, from 10 s
 * before each failure to the first step after it. Between them nothing happens but steps, whose
 * time is added arithmetically.
 */

import type { GroupSnapshot } from '../../agent/channel.ts';
import { groupState } from '../../jobset/epoch/group-state.ts';
import { sumsOf } from '../../jobset/goodput/classes.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import type { GroupProgress } from '../../jobset/progress/group-progress.ts';
import type { Announcement } from '../../jobset/worker-end/announcement.ts';
import {
  COLD_START_MS,
  FAN_OUT_MS,
  FRAMEWORK_TIMEOUT_MS,
  LEG_MS,
  PEERS_END_MS,
  POD_START_MS,
  PODS,
  PODS_CREATED_PER_SECOND,
  PODS_ENDED_PER_SECOND,
  SIMULATED_MEMBERS,
  SPARE_SHARE,
  STEP_MS,
  WARM_SHARE,
} from './costs.ts';
import type { Failure, Outage } from './failures.ts';
import { Ledger } from './ledger.ts';
import { jobSetOf, type RunOptions, type RunResult, STAGE } from './restart-strategies.ts';
import { SimulatedMember, type SimulatedPod } from './simulated-member.ts';
import { type Cluster, SimulatedOperator } from './simulated-operator.ts';
import { SimulatedTime } from './simulated-time.ts';
import { Training } from './training.ts';

/** What is simulated before a failure. */
const LEAD_MS = 10_000;
/** As often as agents look for progress. */
const LOOK_MS = 250;
/** A restart that takes longer would never end. */
const MAX_RESTART_MS = 24 * 60 * 60_000;

export function simulate(options: RunOptions): RunResult {
  return new SimulatedRun(options).run();
}

interface Due {
  readonly atMs: number;
  readonly node: string;
  readonly outage: Outage;
  /** 0: the first failure of that node; else one of its relapses. */
  readonly turn: number;
}

class SimulatedRun implements Cluster {
  readonly #options: RunOptions;
  readonly #time = new SimulatedTime();
  readonly #ledger = new Ledger();
  readonly #training: Training;
  readonly #operator: SimulatedOperator;
  /** By slot. */
  readonly #members = new Map<number, SimulatedMember>();
  readonly #nodes = Array.from({ length: SIMULATED_MEMBERS }, (_, slot) => `node-${slot}`);
  readonly #nodeOfPod = new Map<string, string>();
  #spareNodes = 0;
  #podsMade = 0;
  #failures = 0;
  #accounts: RunResult['accounts'] = { own: this.#ledger.sums, status: this.#ledger.sums };
  #nextLookMs = Number.POSITIVE_INFINITY;
  /** When each member has a standby; until then workers start cold. */
  #standbysReadyMs = Number.POSITIVE_INFINITY;
  /** Failures with `Recreate`: whether a Pod that is recreated leaves its node. */
  #moves: { readonly slot: number } | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    const checkpointSteps = options.checkpointMs / STEP_MS;
    this.#training = new Training({ stepMs: STEP_MS, checkpointSteps }, this.#ledger);
    this.#operator = new SimulatedOperator(jobSetOf(options.strategy), this.#time, this);
  }

  run(): RunResult {
    const { outages, runMs } = this.#options;
    this.#operator.wake();
    this.#runToStep();
    const due: Due[] = outages.map((outage) => ({
      atMs: outage.atMs,
      node: this.#nodes[outage.slot] ?? '',
      outage,
      turn: 0,
    }));
    for (let next = due.shift(); next !== undefined; next = due.shift()) {
      const { outage, turn } = next;
      // It has been left, or repaired.
      if (turn > 0 && next.node !== this.#nodes[outage.slot]) continue;
      const failure = turn === 0 ? outage.first : outage.relapses[turn - 1];
      if (failure === undefined) continue;
      const atMs = Math.max(next.atMs, this.#firstStepMs + LEAD_MS);
      if (atMs >= runMs) continue;
      this.#runQuiet(atMs);
      // The node of the first failure is the node of its member at that time.
      const node = this.#nodes[outage.slot] ?? '';
      this.#fail(outage.slot, failure);
      this.#failures++;
      this.#runToStep();
      const relapse = outage.relapses[turn];
      if (relapse === undefined) continue;
      const again = { atMs: this.#firstStepMs + relapse.afterMs, node, outage, turn: turn + 1 };
      const place = due.findIndex((other) => other.atMs > again.atMs);
      due.splice(place === -1 ? due.length : place, 0, again);
    }
    this.#runQuiet(runMs);
    // The run ends with a success.
    this.#ledger.pass(Math.max(runMs, this.#time.nowMs), 'Productive');
    const { status = {} } = this.#operator.jobSet;
    return { ledger: this.#ledger, failures: this.#failures, status, accounts: this.#accounts };
  }

  // What passes.

  get #firstStepMs(): number {
    return this.#training.firstStepMs ?? Number.POSITIVE_INFINITY;
  }

  /** To the first step after a failure. */
  #runToStep(): void {
    const limitMs = this.#time.nowMs + MAX_RESTART_MS;
    for (;;) {
      this.#passNext(limitMs);
      if (this.#training.firstStepMs === this.#time.nowMs) return;
    }
  }

  /** To a time before which nothing but steps happens, most of it arithmetically. */
  #runQuiet(untilMs: number): void {
    const time = this.#time;
    if (this.#options.skipsQuiet) {
      const quietMs = untilMs - LEAD_MS;
      while (time.nextMs <= quietMs) {
        this.#skipTo(time.nextMs);
        time.fireNext();
      }
      if (quietMs > time.nowMs) this.#skipTo(quietMs);
    }
    while (this.#nextMs <= untilMs) this.#passNext(untilMs);
    if (untilMs > time.nowMs) time.passTo(untilMs);
  }

  #skipTo(ms: number): void {
    const before = this.#training.step;
    this.#training.skipTo(ms);
    this.#time.passTo(ms);
    if (this.#training.step > before) this.#report(this.#training.lastStepMs);
    const missed = Math.ceil((ms - this.#nextLookMs) / LOOK_MS);
    if (missed > 0) this.#nextLookMs += missed * LOOK_MS;
  }

  get #nextMs(): number {
    return Math.min(this.#time.nextMs, this.#training.nextStepMs, this.#nextLookMs);
  }

  /** What is due next: a timer, a step of all, or a look of all agents. */
  #passNext(limitMs: number): void {
    const [time, training] = [this.#time, this.#training];
    const nextMs = this.#nextMs;
    if (nextMs > limitMs)
      throw new Error(`nothing happens between ${time.nowMs} and ${limitMs} ms`);
    if (time.nextMs === nextMs) {
      time.fireNext();
      return;
    }
    time.passTo(nextMs);
    if (training.nextStepMs === nextMs) {
      const isFirst = training.firstStepMs === undefined;
      training.stepDone();
      if (isFirst) this.#standbysReadyMs = nextMs + COLD_START_MS;
      this.#report(nextMs);
      return;
    }
    this.#nextLookMs = nextMs + LOOK_MS;
    for (const member of this.#members.values()) member.look();
  }

  /** All workers write what they have done. */
  #report(nowMs: number): void {
    const { step, checkpoint } = this.#training;
    for (const { progress } of this.#members.values()) {
      progress.look(nowMs);
      progress.took(`${step} checkpoint=${checkpoint}`);
    }
  }

  // What goes wrong.

  #fail(slot: number, failure: Failure): void {
    const { isHang, kind, luck } = failure;
    if (this.#options.strategy.restartStrategy === 'Recreate') {
      this.#moves = luck < SPARE_SHARE || kind === 'Host maintenance' ? { slot } : undefined;
      if (isHang) this.#training.hang();
      const untilMs = this.#training.lastStepMs + FRAMEWORK_TIMEOUT_MS - this.#time.nowMs;
      this.#time.after(isHang ? untilMs : LEG_MS, () => this.#failJob());
      return;
    }
    const member = this.#members.get(slot);
    if (isHang) {
      this.#training.hang();
      if (member !== undefined) member.isStuck = true;
      this.#endPeers(this.#training.lastStepMs + FRAMEWORK_TIMEOUT_MS - this.#time.nowMs);
    } else if (kind === 'Host maintenance') {
      this.#training.hang();
      this.replacePod(slot);
      this.#endPeers(PEERS_END_MS);
    } else member?.fail();
  }

  /** Workers that wait for another end by themselves, unless they were stopped before. */
  #endPeers(afterMs: number): void {
    const epoch = this.#members.values().next().value?.epoch;
    this.#time.after(afterMs, () => {
      for (const member of this.#members.values()) {
        if (member.epoch === epoch && epoch !== undefined && !member.isStuck) member.fail();
      }
    });
  }

  #move(slot: number): void {
    this.#nodes[slot] = `spare-${++this.#spareNodes}`;
    this.#standbysReadyMs = Number.POSITIVE_INFINITY;
  }

  #failJob(): void {
    const failed = { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' } as const;
    this.#operator.sawJob({ conditions: [failed] });
  }

  // What the operator acts on.

  get reported(): GroupProgress {
    return this.#training.reported(this.#time.nowMs);
  }

  nodeOf(podUid: string): string | undefined {
    return this.#nodeOfPod.get(podUid);
  }

  createPods(): void {
    const createdMs = (PODS * 1000) / PODS_CREATED_PER_SECOND;
    this.#time.after(createdMs + POD_START_MS, () => {
      if (this.#moves !== undefined) this.#move(this.#moves.slot);
      this.#moves = undefined;
      this.#operator.sawJob({ active: SIMULATED_MEMBERS, ready: SIMULATED_MEMBERS });
      if (this.#options.strategy.restartStrategy === 'Recreate') this.#begin(this.#time.nowMs);
      else for (const slot of this.#nodes.keys()) this.#startMember(slot);
    });
  }

  deletePods(): void {
    this.#time.after((PODS * 1000) / PODS_ENDED_PER_SECOND, () => this.#operator.jobGone());
  }

  /** A Pod is taken from its node, and recreated on another. */
  replacePod(slot: number): void {
    const member = this.#members.get(slot);
    if (member === undefined) return;
    this.#members.delete(slot);
    const { pod, epoch } = member;
    if (epoch === undefined) this.#operator.gone(pod.podUid);
    else this.#operator.lost(pod, epoch);
    this.#move(slot);
    this.#time.after(POD_START_MS, () => this.#startMember(slot));
  }

  wrote(status: JobSetStatus, before: JobSetStatus, decidedMs: number): void {
    const hasEnded =
      (status.deprecatedEpoch ?? 0) > (before.deprecatedEpoch ?? 0) ||
      (status.restarts ?? 0) > (before.restarts ?? 0);
    if (hasEnded) {
      const isHung = status.restartHistory?.[0]?.witness?.reason === 'WorkerHung';
      this.#training.end(decidedMs, isHung);
      this.#nextLookMs = Number.POSITIVE_INFINITY;
    }
    if ((status.syncedEpoch ?? 0) > (before.syncedEpoch ?? 0)) {
      this.#released(decidedMs);
      if (status.goodput !== undefined) {
        this.#accounts = { own: this.#ledger.sums, status: sumsOf(status.goodput) };
      }
    }
    const snapshot: GroupSnapshot = {
      ...groupState(this.#operator.jobSet, STAGE),
      isFresh: true,
      members: SIMULATED_MEMBERS,
    };
    this.#time.after(hasEnded ? LEG_MS + FAN_OUT_MS : LEG_MS, () => {
      for (const member of this.#members.values()) member.hear(snapshot);
    });
  }

  #released(nowMs: number): void {
    this.#ledger.pass(nowMs, this.#ledger.elapsedMs === 0 ? 'Waiting' : 'Restarting');
    this.#training.release();
  }

  // The Pods and their agents.

  #startMember(slot: number): void {
    const podUid = `train-${STAGE}-0-${slot}-p${++this.#podsMade}`;
    const pod: SimulatedPod = { slot, podUid, node: this.#nodes[slot] ?? '' };
    this.#nodeOfPod.set(podUid, pod.node);
    const { uid } = this.#operator.jobSet.metadata;
    const member = new SimulatedMember(pod, uid, {
      time: this.#time,
      size: SIMULATED_MEMBERS,
      announce: (of, announcement) => this.#announce(of, announcement),
      lifted: (_, epoch) => this.#lifted(epoch),
    });
    this.#members.set(slot, member);
    const state = groupState(this.#operator.jobSet, STAGE);
    member.hear({ ...state, isFresh: true, members: SIMULATED_MEMBERS });
  }

  #announce(member: SimulatedMember, announcement: Announcement): void {
    this.#time.after(LEG_MS, () => {
      this.#operator.announced(member.pod, announcement);
      member.announced(announcement.epoch);
    });
  }

  /** The last worker of the group is started. */
  #lifted(epoch: number): void {
    const members = [...this.#members.values()];
    const isWhole = members.length === SIMULATED_MEMBERS;
    if (isWhole && members.every((each) => each.epoch === epoch)) this.#start(this.#time.nowMs);
  }

  /** With `Recreate`, workers start when all Pods run. */
  #begin(nowMs: number): void {
    this.#released(nowMs);
    this.#start(nowMs);
  }

  #start(nowMs: number): void {
    const isWarm = this.#options.strategy.hasStandby && nowMs >= this.#standbysReadyMs;
    const startMs = Math.round(isWarm ? COLD_START_MS * WARM_SHARE : COLD_START_MS);
    this.#standbysReadyMs = Number.POSITIVE_INFINITY;
    this.#training.begin(nowMs, startMs + STEP_MS);
    this.#nextLookMs = nowMs + LOOK_MS;
  }
}
