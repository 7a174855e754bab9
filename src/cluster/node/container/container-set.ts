/**
 * The containers of one Pod: their records and their processes. It does what it is told (start, stop,
 * wait) and reports every change; what to do is decided in `pod-actions.ts`.
 */
import { formatDuration } from '../../../kube/duration.ts';
import type { PodSpec } from '../../../kube/objects/pod.ts';
import { timeText } from '../../../kube/time.ts';
import { earliestStartMs } from '../backoff.ts';
import type { BackOffAction } from '../pod/pod-actions.ts';
import { allContainersOf, containersOf, ephemeralContainersOf } from '../pod-containers.ts';
import type { ProbeKind } from '../probe/probe-worker.ts';
import { adoptedRecords } from './container-adoption.ts';
import type { ContainerExit } from './container-process.ts';
import { type ContainerRecord, freshRecord, type StopReason } from './container-record.ts';
import {
  type ContainerMember,
  ContainerStarter,
  type ContainerStarterOptions,
  SHUTDOWN_GRACE_MS,
} from './container-starter.ts';
import {
  backingOff,
  exited,
  neverStarting,
  notReadyYet,
  probed,
  redefined,
  removed,
  shownAs,
  starting,
  stopping,
} from './container-transitions.ts';
import { effectivePolicy, shouldRestart } from './restart-rules.ts';
import type { ContainerListener, RunningContainer } from './running-container.ts';

/** Grace of a restart of all containers, and the least that any container gets. */
export const MIN_GRACE_MS = 2_000;

export interface ContainerSetOptions extends ContainerStarterOptions {
  /** As an earlier life of the node has left them; by default the Pod's status says. */
  readonly records: readonly ContainerRecord[] | undefined;
  /** A record changed by itself: a process started or ended, a probe settled something. */
  readonly onChange: () => void;
}

export class ContainerSet {
  readonly #options: ContainerSetOptions;
  readonly #spec: PodSpec;
  readonly #members = new Map<string, ContainerMember>();
  readonly #starter: ContainerStarter;
  /** Starts and stops that are under way; none rejects. */
  readonly #work = new Set<Promise<void>>();
  #isShutDown = false;

  constructor(options: ContainerSetOptions) {
    const { pod, context } = options;
    this.#options = options;
    this.#spec = pod.spec;
    this.#starter = new ContainerStarter(options, this.#members, (member) =>
      this.#listener(member),
    );
    const known = options.records ?? adoptedRecords(pod, context.clock.now());
    const records = new Map(known.map((record) => [record.name, record]));
    for (const { container, kind } of allContainersOf(pod.spec)) {
      const record = records.get(container.name);
      if (record === undefined) continue;
      this.#members.set(container.name, { container, kind, record, running: undefined });
    }
  }

  get records(): ReadonlyMap<string, ContainerRecord> {
    return new Map([...this.#members].map(([name, { record }]) => [name, record]));
  }

  /** The container's process while there is one. */
  running(name: string): RunningContainer | undefined {
    return this.#members.get(name)?.running;
  }

  /** Takes over the processes that an earlier life of the node has started. */
  async resume(): Promise<void> {
    for (const member of this.#members.values()) await this.#starter.resume(member);
  }

  start(name: string): void {
    const member = this.#members.get(name);
    if (member === undefined) return;
    const before = member.record;
    member.record = starting(before, this.#now(), this.#options.context.backoff);
    this.#track(this.#starter.start(member, before).then(() => this.#changed()));
  }

  backOff({ name, exited: ended, delayMs, untilMs }: BackOffAction): void {
    const member = this.#members.get(name);
    if (member === undefined) return;
    const { events, context } = this.#options;
    const message = events.backOffMessage(name, formatDuration(delayMs));
    const nowMs = this.#now();
    member.record = backingOff(member.record, ended, message, untilMs, nowMs, context.backoff);
    events.container(member.record, 'Warning', 'BackOff', `Back-off ${events.backOffNote(name)}`);
  }

  /** A probe gave it up: it gets its grace, and what follows is up to its policy. */
  giveUp(name: string): void {
    const member = this.#members.get(name);
    if (member?.record.life.state !== 'running') return;
    const { unhealthy } = member.record.life;
    const { container } = member;
    const probe = unhealthy === 'Liveness' ? container.livenessProbe : container.startupProbe;
    const seconds =
      probe?.terminationGracePeriodSeconds ?? this.#spec.terminationGracePeriodSeconds ?? 30;
    const kind = unhealthy === 'Liveness' ? 'liveness' : 'startup';
    const isRestarted = effectivePolicy(container, this.#spec) !== 'Never';
    const note = `Container ${name} failed ${kind} probe${isRestarted ? ', will be restarted' : ''}`;
    this.#stop(member, 'Unhealthy', Math.max(seconds * 1000, MIN_GRACE_MS), note);
  }

  /**
   * Containers that were added are there from now on. One that runs and has another image is stopped
   * and starts anew, whatever its policy;
   * a crash loop of the image before is none of the new one.
   */
  redefine(spec: PodSpec): void {
    for (const { container, kind } of ephemeralContainersOf(spec)) {
      if (this.#members.has(container.name)) continue;
      const record = freshRecord(container.name, kind);
      this.#members.set(container.name, { container, kind, record, running: undefined });
    }
    for (const { container, kind } of containersOf(spec)) {
      const member = this.#members.get(container.name);
      if (member === undefined || member.container.image === container.image) continue;
      member.container = container;
      member.record = redefined(member.record, this.#now(), this.#options.context.backoff);
      const { life } = member.record;
      if (life.state !== 'running' || life.stopping !== undefined || kind === 'init') continue;
      const graceMs = (spec.terminationGracePeriodSeconds ?? 30) * 1000;
      const note = `Container ${container.name} definition changed, will be restarted`;
      this.#stop(member, 'Redefined', Math.max(graceMs, MIN_GRACE_MS), note);
    }
  }

  stopForRestart(name: string): void {
    const member = this.#members.get(name);
    if (member !== undefined) {
      this.#stop(member, 'RestartAllContainers', MIN_GRACE_MS, 'killing');
    }
  }

  stopForEnd(name: string, reason: 'SandboxChanged' | 'PodEnd', graceMs: number): void {
    const member = this.#members.get(name);
    if (member === undefined) return;
    this.#stop(member, reason, Math.max(graceMs, MIN_GRACE_MS), `Stopping container ${name}`);
  }

  /** All are down and begin anew. */
  removeAll(): void {
    for (const member of this.#members.values()) member.record = removed(member.record);
  }

  /** All are down for good. */
  settle(): void {
    const nowMs = this.#now();
    for (const member of this.#members.values()) {
      member.record = neverStarting(member.record, nowMs);
    }
  }

  /** Whatever still runs is killed then. */
  killAfter(delayMs: number): void {
    for (const { running: one } of this.#members.values()) one?.main.killAfter(delayMs);
  }

  /** Ends every process, reports nothing more, and resolves when none is left. */
  async shutDown(): Promise<void> {
    this.#isShutDown = true;
    this.#starter.close();
    for (const { running: one } of this.#members.values()) {
      if (one !== undefined) this.#track(one.stop(SHUTDOWN_GRACE_MS, false));
    }
    const processes = [...this.#members.values()].flatMap(({ running: one }) => one?.main ?? []);
    await Promise.all(processes.map(({ exited: end }) => end));
    // A start that was under way ends its process when it finds out.
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  #listener(member: ContainerMember): ContainerListener {
    const { events } = this.#options;
    return {
      onVerdict: (kind, verdict) => this.#probed(member, kind, verdict),
      onFailure: (reason, note) => events.container(member.record, 'Warning', reason, note),
      onExit: (exit) => this.#ended(member, exit),
    };
  }

  #ended(member: ContainerMember, { exitCode, message }: ContainerExit): void {
    const { record, running: one } = member;
    if (record.life.state !== 'running' || one === undefined) return;
    const nowMs = this.#now();
    member.running = undefined;
    member.record = exited(
      record,
      {
        exitCode,
        reason: exitCode === 0 ? 'Completed' : 'Error',
        ...(message === '' ? {} : { message }),
        startedAt: timeText(record.life.startedMs),
        finishedAt: timeText(nowMs),
        containerID: record.life.containerID,
      },
      nowMs,
    );
    if (!this.#isShutDown) this.#restartAnyway(member, record);
    this.#changed();
    const { keeper } = this.#options.context;
    const { marker } = one.main.launch;
    if (keeper !== undefined) void this.#options.saved().then(() => keeper.forget(marker));
  }

  /**
   * What has another image, or what a probe gave up, restarts although its exit code says that it is done.
   * Its end is not shown then: from an end like that no API server lets a container return.
   */
  #restartAnyway(member: ContainerMember, before: ContainerRecord): void {
    const { container, kind, record } = member;
    const { life, name } = record;
    if (life.state !== 'exited') return;
    const { wasStopped, terminated, finishedMs } = life;
    const isGivenUp =
      wasStopped === 'Unhealthy' &&
      effectivePolicy(container, this.#spec) !== 'Never' &&
      !shouldRestart(container, kind, this.#spec, terminated.exitCode);
    if (wasStopped !== 'Redefined' && !isGivenUp) return;
    const untilMs = earliestStartMs(record.backoff, finishedMs);
    if (untilMs > finishedMs) {
      this.backOff({ name, exited: life, delayMs: untilMs - finishedMs, untilMs });
    } else {
      this.start(name);
      member.record = shownAs(member.record, before);
    }
  }

  #probed(member: ContainerMember, kind: ProbeKind, verdict: 'success' | 'failure'): void {
    const { readinessProbe, startupProbe } = member.container;
    const after = probed(member.record, kind, verdict, readinessProbe !== undefined);
    if (kind === 'Startup' && verdict === 'success' && startupProbe !== undefined) {
      member.record = notReadyYet(after);
      if (!this.#isShutDown) this.#options.onStep();
    }
    member.record = after;
    this.#changed();
  }

  #stop(member: ContainerMember, reason: StopReason, graceMs: number, note: string): void {
    const { running: one } = member;
    if (one === undefined) return;
    this.#options.events.container(member.record, 'Normal', 'Killing', note);
    member.record = stopping(member.record, reason);
    this.#track(one.stop(graceMs, reason !== 'RestartAllContainers'));
  }

  #changed(): void {
    if (!this.#isShutDown) this.#options.onChange();
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  #now(): number {
    return this.#options.context.clock.now();
  }
}
