/**
 * A run of a simulated group with its failures, from 10 s before each failure to the first step after
 * it. Between them nothing happens but steps: the clock jumps over most of that time, and the steps are
 * added arithmetically.
 */

import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import { sumsOf } from '../../jobset/goodput/classes.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { PROGRESS_TIMEOUT } from '../../jobset/names.ts';
import { HubGroup, supervisedJobSet } from '../../simulator/hub-group/hub-group.ts';
import {
  COLD_START_MS,
  FRAMEWORK_TIMEOUT_MS,
  LEG_MS,
  PEERS_END_MS,
  SIMULATED_MEMBERS,
  SPARE_SHARE,
  STEP_MS,
  WARM_SHARE,
} from './costs.ts';
import type { Failure, Outage } from './failures.ts';
import { Ledger } from './ledger.ts';
import type { RunOptions, RunResult } from './restart-strategies.ts';
import { type Member, SimulatedPods } from './simulated-pods.ts';
import { Training } from './training.ts';

/** What is simulated before a failure. */
const LEAD_MS = 10_000;
/** As often as agents look for progress, while no step comes. */
const LOOK_MS = 250;
/** While steps come, one look in so many counts the silence as well. */
const LOOKS_PER_SECOND = 4;
/** Agents also ping after a first step or a checkpoint. The hub ends a stream that is silent for 40 s. */
const PING_MS = 30_000;
/** A restart that takes longer would never end. */
const MAX_RESTART_MS = 24 * 60 * 60_000;
const MAX_RESTARTS = 10_000;

export async function simulate(options: RunOptions): Promise<RunResult> {
  const group = await HubGroup.started();
  try {
    return await new SimulatedRun(options, group).run();
  } finally {
    await group.stop();
  }
}

interface Due {
  readonly atMs: number;
  readonly node: string;
  readonly outage: Outage;
  /** 0: the first failure of that node; else one of its relapses. */
  readonly turn: number;
}

class SimulatedRun {
  readonly #options: RunOptions;
  readonly #group: HubGroup;
  readonly #pods: SimulatedPods;
  readonly #ledger = new Ledger();
  readonly #training: Training;
  #status: JobSetStatus = {};
  #failures = 0;
  #accounts: RunResult['accounts'] = { own: this.#ledger.sums, status: this.#ledger.sums };
  /** The worker that stopped without a word. */
  #stuck: Member | undefined;
  #nextStep: Timer | undefined;
  /** When agents look next, and how often they have looked. */
  #nextLook: Timer | undefined;
  #nextLookMs = 0;
  #looks = 0;
  /** When each member has a standby; until then workers start cold. */
  #standbysReadyMs = Number.POSITIVE_INFINITY;

  constructor(options: RunOptions, group: HubGroup) {
    this.#options = options;
    this.#group = group;
    const checkpointSteps = options.checkpointMs / STEP_MS;
    this.#training = new Training({ stepMs: STEP_MS, checkpointSteps }, this.#ledger);
    this.#pods = new SimulatedPods(group, this.#isInPlace, {
      wrote: (status, decidedMs) => this.#wrote(status, decidedMs),
      ready: () => this.#ready(),
      moved: () => {
        this.#standbysReadyMs = Number.POSITIVE_INFINITY;
      },
      started: () => {
        this.#stuck = undefined;
      },
      whole: () => this.#train(this.#pods.nowMs),
    });
  }

  async run(): Promise<RunResult> {
    const { outages, runMs } = this.#options;
    const { restartStrategy, annotations } = this.#options.strategy;
    const size = { replicas: 1, pods: SIMULATED_MEMBERS };
    const policy = { maxRestarts: MAX_RESTARTS, restartStrategy };
    await this.#pods.start(supervisedJobSet(size, policy, annotations));
    await this.#runToStep();
    const due: Due[] = outages.map((outage) => ({
      atMs: outage.atMs,
      node: this.#pods.nodeIn(outage.slot),
      outage,
      turn: 0,
    }));
    for (let next = due.shift(); next !== undefined; next = due.shift()) {
      const { outage, turn } = next;
      // It has been left, or repaired.
      if (turn > 0 && next.node !== this.#pods.nodeIn(outage.slot)) continue;
      const failure = turn === 0 ? outage.first : outage.relapses[turn - 1];
      if (failure === undefined) continue;
      const atMs = Math.max(next.atMs, this.#firstStepMs + LEAD_MS);
      if (atMs >= runMs) continue;
      await this.#runQuiet(atMs);
      // The node of the first failure is the node of its member at that time.
      const node = this.#pods.nodeIn(outage.slot);
      await this.#fail(outage.slot, failure);
      this.#failures++;
      await this.#runToStep();
      const relapse = outage.relapses[turn];
      if (relapse === undefined) continue;
      const again = { atMs: this.#firstStepMs + relapse.afterMs, node, outage, turn: turn + 1 };
      const place = due.findIndex((other) => other.atMs > again.atMs);
      due.splice(place === -1 ? due.length : place, 0, again);
    }
    await this.#runQuiet(runMs);
    // The run ends with a success.
    this.#ledger.pass(Math.max(runMs, this.#pods.nowMs), 'Productive');
    return {
      ledger: this.#ledger,
      failures: this.#failures,
      status: this.#status,
      accounts: this.#accounts,
    };
  }

  // What passes.

  get #isInPlace(): boolean {
    return this.#options.strategy.restartStrategy === 'InPlaceRestart';
  }

  get #firstStepMs(): number {
    return this.#training.firstStepMs ?? Number.POSITIVE_INFINITY;
  }

  /** To the first step after a failure. */
  async #runToStep(): Promise<void> {
    await this.#group.clock.runUntil(() => {
      this.#pods.check();
      return this.#training.firstStepMs === this.#pods.nowMs;
    }, MAX_RESTART_MS);
  }

  /** To a time before which nothing but steps happens, most of it at once. */
  async #runQuiet(untilMs: number): Promise<void> {
    const { clock } = this.#group;
    await clock.settle();
    if (this.#options.skipsQuiet) this.#skip(untilMs - LEAD_MS - this.#pods.nowMs);
    await clock.advance(Math.max(0, untilMs - this.#pods.nowMs));
    this.#pods.check();
  }

  /** So many pings are left out that those that come are when they would be. */
  #skip(quietMs: number): void {
    const skippedMs = Math.floor(quietMs / PING_MS) * PING_MS;
    if (skippedMs <= 0) return;
    const { clock } = this.#group;
    const training = this.#training;
    const { step, checkpoint } = training;
    this.#nextStep?.cancel();
    this.#nextLook?.cancel();
    clock.jump(skippedMs);
    training.skipTo(this.#pods.nowMs);
    if (training.checkpoint > checkpoint) {
      this.#report(training.checkpoint, training.checkpointMs ?? 0);
    }
    if (training.step > step) this.#report(training.step, training.lastStepMs);
    this.#ping();
    this.#awaitStep();
    if (this.#nextLook !== undefined) this.#awaitLook(this.#nextLookMs + skippedMs);
  }

  #awaitStep(): void {
    this.#nextStep?.cancel();
    const { nextStepMs } = this.#training;
    if (nextStepMs === Number.POSITIVE_INFINITY) return;
    this.#nextStep = this.#pods.after(nextStepMs - this.#pods.nowMs, () => this.#stepDone());
  }

  #stepDone(): void {
    const training = this.#training;
    const isFirst = training.firstStepMs === undefined;
    training.stepDone();
    if (isFirst) this.#standbysReadyMs = this.#pods.nowMs + COLD_START_MS;
    this.#report(training.step, this.#pods.nowMs);
    if (isFirst || training.checkpoint === training.step) this.#ping();
    this.#awaitStep();
  }

  #awaitLook(atMs: number): void {
    this.#nextLookMs = atMs;
    this.#nextLook = this.#pods.after(atMs - this.#pods.nowMs, () => {
      const isStill = this.#training.nextStepMs === Number.POSITIVE_INFINITY;
      this.#looks++;
      if (isStill || this.#looks % LOOKS_PER_SECOND === 0) {
        for (const { agent } of this.#pods.members.values()) agent.look();
      }
      if (this.#looks % (PING_MS / LOOK_MS) === 0) this.#ping();
      this.#awaitLook(atMs + LOOK_MS);
    });
  }

  /** All workers write which step they have done. */
  #report(step: number, atMs: number): void {
    const checkpoint = step - (step % (this.#options.checkpointMs / STEP_MS));
    for (const { agent } of this.#pods.members.values()) {
      agent.report(`${step} checkpoint=${checkpoint}`, this.#pods.originMs + atMs);
    }
  }

  #ping(): void {
    for (const { agent } of this.#pods.members.values()) agent.ping();
  }

  // What goes wrong.

  async #fail(slot: number, failure: Failure): Promise<void> {
    const { isHang, kind, luck } = failure;
    const untilMs = this.#training.lastStepMs + FRAMEWORK_TIMEOUT_MS - this.#pods.nowMs;
    if (isHang || kind === 'Host maintenance') {
      this.#training.hang();
      this.#awaitStep();
    }
    if (!this.#isInPlace) {
      const moving = luck < SPARE_SHARE || kind === 'Host maintenance' ? slot : undefined;
      this.#pods.after(isHang ? untilMs : LEG_MS, () => this.#pods.failJob(moving));
      return;
    }
    const member = this.#pods.members.get(slot);
    if (isHang) {
      this.#stuck = member;
      this.#endPeers(untilMs);
      const isFound = PROGRESS_TIMEOUT in this.#options.strategy.annotations;
      if (!isFound) await this.#runQuiet(this.#pods.nowMs + untilMs);
    } else if (kind === 'Host maintenance') {
      await this.#pods.replace(slot);
      this.#endPeers(PEERS_END_MS);
    } else member?.agent.fail();
  }

  /** Workers that wait for another end by themselves, unless they were stopped before. */
  #endPeers(afterMs: number): void {
    const epoch = this.#pods.members.values().next().value?.agent.epoch;
    this.#pods.after(afterMs, () => {
      for (const member of this.#pods.members.values()) {
        const { agent } = member;
        if (agent.epoch === epoch && member !== this.#stuck) agent.fail();
      }
    });
  }

  // What the operator does.

  /** Whether it ends an epoch. */
  #wrote(status: JobSetStatus, decidedMs: number): boolean {
    const before = this.#status;
    this.#status = status;
    const hasEnded =
      (status.deprecatedEpoch ?? 0) > (before.deprecatedEpoch ?? 0) ||
      (status.restarts ?? 0) > (before.restarts ?? 0);
    if (hasEnded) {
      const isHung = status.restartHistory?.[0]?.witness?.reason === 'WorkerHung';
      this.#training.end(decidedMs, isHung);
      this.#awaitStep();
    }
    if ((status.syncedEpoch ?? 0) > (before.syncedEpoch ?? 0)) {
      this.#released(decidedMs);
      if (status.goodput !== undefined) {
        this.#accounts = { own: this.#ledger.sums, status: sumsOf(status.goodput) };
      }
    }
    return hasEnded;
  }

  #released(nowMs: number): void {
    this.#ledger.pass(nowMs, this.#ledger.elapsedMs === 0 ? 'Waiting' : 'Restarting');
    this.#training.release();
  }

  /** All Pods of a new Job run. With `Recreate`, so do their workers. */
  #ready(): void {
    const { nowMs } = this.#pods;
    if (this.#isInPlace) {
      this.#awaitLook(nowMs + LOOK_MS);
      return;
    }
    this.#released(nowMs);
    this.#train(nowMs);
  }

  #train(nowMs: number): void {
    const isWarm = this.#options.strategy.hasStandby && nowMs >= this.#standbysReadyMs;
    const startMs = Math.round(isWarm ? COLD_START_MS * WARM_SHARE : COLD_START_MS);
    this.#standbysReadyMs = Number.POSITIVE_INFINITY;
    this.#training.begin(nowMs, startMs + STEP_MS);
    this.#awaitStep();
  }
}
