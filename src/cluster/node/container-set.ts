/**
 * The containers of one Pod: their records and their processes. It does what it is told (start, stop,
 * wait) and reports every change; what to do is decided in `pod-actions.ts`.
 */
import { formatDuration } from '../../kube/duration.ts';
import type { Container, Pod, PodSpec } from '../../kube/pod.ts';
import { timeText } from '../../kube/time.ts';
import { ProcessStartError } from '../../runtime/ports/process-runner.ts';
import { adoptedRecords, takenOver, withoutProcess } from './container-adoption.ts';
import {
  type Launch,
  LaunchBlockedError,
  markerOf,
  prepareLaunch,
  type Sandbox,
} from './container-launch.ts';
import { KEPT_RUNS, removeOldLog } from './container-log.ts';
import type { ContainerExit } from './container-process.ts';
import {
  allContainersOf,
  backingOff,
  blocked,
  type ContainerKind,
  type ContainerRecord,
  containersOf,
  ephemeralContainersOf,
  exited,
  freshRecord,
  neverStarting,
  notReadyYet,
  probed,
  redefined,
  removed,
  running,
  type StopReason,
  shownAs,
  starting,
  stopping,
  waitingAgain,
} from './container-record.ts';
import type { NodeContext } from './node-context.ts';
import type { BackOffAction } from './pod-actions.ts';
import type { PodEvents } from './pod-events.ts';
import type { ProbeKind } from './probe-worker.ts';
import { effectivePolicy } from './restart-rules.ts';
import { type ContainerListener, RunningContainer } from './running-container.ts';

/** Grace of a restart of all containers, and the least that any container gets. */
export const MIN_GRACE_MS = 2_000;
/** When the node itself stops, which has to be quick. */
const SHUTDOWN_GRACE_MS = 1_000;
/** What is missing from a container's configuration is looked for again after this time. */
const BLOCKED_RETRY_MS = 2_000;
/** A container runtime reports a command that cannot be executed with this code. */
const START_ERROR_EXIT_CODE = 128;

interface Member {
  container: Container;
  readonly kind: ContainerKind;
  record: ContainerRecord;
  running: RunningContainer | undefined;
}

export interface ContainerSetOptions {
  readonly context: NodeContext;
  readonly pod: Pod;
  readonly events: PodEvents;
  /** Of the Pod as it is now. */
  readonly sandbox: () => Sandbox;
  /** As an earlier life of the node has left them; by default the Pod's status says. */
  readonly records: readonly ContainerRecord[] | undefined;
  /** Resolves once the records as they are now are on file. */
  readonly saved: () => Promise<void>;
  /** A record changed by itself: a process started or ended, a probe settled something. */
  readonly onChange: () => void;
  /** The records are as they are for a moment only, which is to be shown. */
  readonly onStep: () => void;
}

export class ContainerSet {
  readonly #options: ContainerSetOptions;
  readonly #spec: PodSpec;
  readonly #members = new Map<string, Member>();
  /** Starts and stops that are under way; none rejects. */
  readonly #work = new Set<Promise<void>>();
  #isShutDown = false;

  constructor(options: ContainerSetOptions) {
    const { pod, context } = options;
    this.#options = options;
    this.#spec = pod.spec;
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
    for (const member of this.#members.values()) await this.#resume(member);
  }

  start(name: string): void {
    const member = this.#members.get(name);
    if (member === undefined) return;
    const before = member.record;
    member.record = starting(before, this.#now(), this.#options.context.backoff);
    this.#track(this.#start(member, before));
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
   * Containers that were added are there from now on. One that runs and has another image is stopped and starts anew, whatever its policy;
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
    for (const { running: one } of this.#members.values()) one?.process.killAfter(delayMs);
  }

  /** Ends every process, reports nothing more, and resolves when none is left. */
  async shutDown(): Promise<void> {
    this.#isShutDown = true;
    for (const { running: one } of this.#members.values()) {
      if (one !== undefined) this.#track(one.stop(SHUTDOWN_GRACE_MS, false));
    }
    const processes = [...this.#members.values()].flatMap(({ running: one }) => one?.process ?? []);
    await Promise.all(processes.map(({ exited: end }) => end));
    // A start that was under way ends its process when it finds out.
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  async #resume(member: Member): Promise<void> {
    const { context, pod, sandbox } = this.#options;
    const { container, record } = member;
    const { life, restartCount: restart } = record;
    if (life.state !== 'running' && life.state !== 'starting') return;
    const { containerID, startedMs } =
      life.state === 'running' ? life : { containerID: undefined, startedMs: undefined };
    const marker = markerOf(pod.metadata.uid ?? '', container.name, restart);
    const run = { marker, restart, containerID, startedMs };
    const listener = this.#listener(member);
    const one = await RunningContainer.resume(context, sandbox(), container, run, listener);
    if (one === undefined) {
      member.record = withoutProcess(record, this.#now());
    } else if (life.state === 'starting') {
      await this.#started(member, one);
    } else {
      member.running = one;
      member.record = takenOver(record, one.process.wasOver);
      one.goOn(life.started);
    }
  }

  async #start(member: Member, before: ContainerRecord): Promise<void> {
    const { context, events } = this.#options;
    const { container } = member;
    const restart = member.record.restartCount;
    try {
      const place = this.#placeOf(member);
      const launch = await prepareLaunch(context, place, container, restart);
      removeOldLog(context.files, `${place.logDirectory}/${container.name}`, restart - KEPT_RUNS);
      await this.#options.saved();
      const one = await this.#startProcess(member, place, launch, restart);
      await this.#started(member, one);
    } catch (error) {
      if (error instanceof ProcessStartError) {
        this.#failed(member, error.message);
      } else {
        const reason = error instanceof LaunchBlockedError ? error.reason : 'CreateContainerError';
        const mayPass = !(error instanceof LaunchBlockedError) || error.mayPass;
        const retryMs = mayPass ? this.#now() + BLOCKED_RETRY_MS : Number.POSITIVE_INFINITY;
        const message = error instanceof Error ? error.message : String(error);
        member.record = blocked(before, { reason, message }, retryMs);
        events.container(member.record, 'Warning', 'Failed', `Error: ${message}`);
      }
    }
    this.#changed();
  }

  /** Who looks into a container sees its processes. */
  #placeOf({ kind, container: { name } }: Member): Sandbox {
    const { pod, sandbox } = this.#options;
    const place = sandbox();
    if (kind !== 'ephemeral') return place;
    const { ephemeralContainers = [] } = place.facts.pod.spec;
    const target = ephemeralContainers.find((one) => one.name === name)?.targetContainerName;
    if (target === undefined || target === '' || pod.spec.hostPID === true) return place;
    const pid = this.#members.get(target)?.running?.process.launch.entry?.pid;
    if (pid !== undefined) return { ...place, holder: () => Promise.resolve(pid) };
    const namespaces = this.#options.context.namespaces?.type === 'available';
    if (!namespaces) return place;
    const message = `the container "${target}", whose processes it is to see, does not run`;
    throw new LaunchBlockedError('CreateContainerError', message, true);
  }

  #startProcess(
    member: Member,
    place: Sandbox,
    launch: Launch,
    restart: number,
  ): Promise<RunningContainer> {
    const { context } = this.#options;
    const listener = this.#listener(member);
    return RunningContainer.start(context, place, member.container, launch, restart, listener);
  }

  #listener(member: Member): ContainerListener {
    const { events } = this.#options;
    return {
      onVerdict: (kind, verdict) => this.#probed(member, kind, verdict),
      onFailure: (reason, note) => events.container(member.record, 'Warning', reason, note),
      onExit: (exit) => this.#ended(member, exit),
    };
  }

  async #started(member: Member, one: RunningContainer): Promise<void> {
    const { events } = this.#options;
    const { container, record } = member;
    for (const each of this.#members.values()) each.record = waitingAgain(each.record);
    member.running = one;
    const waits =
      container.startupProbe !== undefined || container.lifecycle?.postStart !== undefined;
    member.record = running(record, one.process.containerID, one.process.startedMs, {
      startup: waits,
      readiness: container.readinessProbe !== undefined,
    });
    if (this.#isShutDown) {
      await one.stop(SHUTDOWN_GRACE_MS, false);
      await one.process.exited;
      return;
    }
    events.container(member.record, 'Normal', 'Created', 'Container created');
    events.container(member.record, 'Normal', 'Started', 'Container started');
    // One that ends at once was running all the same.
    if (member.kind === 'init') this.#options.onStep();
    one.begin();
  }

  /** The command cannot be executed: for the API the container has started and failed. */
  #failed(member: Member, why: string): void {
    const nowMs = this.#now();
    const message = `failed to start container "${member.container.name}": ${why}`;
    member.record = exited(
      member.record,
      {
        exitCode: START_ERROR_EXIT_CODE,
        reason: 'StartError',
        message,
        startedAt: timeText(nowMs),
        finishedAt: timeText(nowMs),
        containerID: `lockstep://${this.#options.context.random.uuid().replaceAll('-', '')}`,
      },
      nowMs,
    );
    this.#options.events.container(member.record, 'Warning', 'Failed', `Error: ${message}`);
  }

  #ended(member: Member, { exitCode, message }: ContainerExit): void {
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
    if (record.life.stopping === 'Redefined' && !this.#isShutDown) {
      this.start(record.name);
      member.record = shownAs(member.record, record);
    }
    this.#changed();
    const { keeper } = this.#options.context;
    const { marker } = one.process.launch;
    if (keeper !== undefined) void this.#options.saved().then(() => keeper.forget(marker));
  }

  #probed(member: Member, kind: ProbeKind, verdict: 'success' | 'failure'): void {
    const { readinessProbe, startupProbe } = member.container;
    const after = probed(member.record, kind, verdict, readinessProbe !== undefined);
    if (kind === 'Startup' && verdict === 'success' && startupProbe !== undefined) {
      member.record = notReadyYet(after);
      if (!this.#isShutDown) this.#options.onStep();
    }
    member.record = after;
    this.#changed();
  }

  #stop(member: Member, reason: StopReason, graceMs: number, note: string): void {
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
