/**
 * From a container's record to its process: prepares and starts a run, or takes over one that an
 * earlier life of the node has started, and writes into the record what came of it.
 */
import type { Container, Pod } from '../../../kube/objects/pod.ts';
import { timeText } from '../../../kube/time.ts';
import { ProcessStartError } from '../../../runtime/ports/process-runner.ts';
import { KEPT_RUNS, removeOldLog } from '../log/container-log.ts';
import type { NodeContext } from '../node-context.ts';
import type { PodEvents } from '../pod/pod-events.ts';
import type { ContainerKind } from '../pod-containers.ts';
import { takenOver, withoutProcess } from './container-adoption.ts';
import {
  type Launch,
  LaunchBlockedError,
  markerOf,
  prepareLaunch,
  type Sandbox,
} from './container-launch.ts';
import type { ContainerRecord } from './container-record.ts';
import { blocked, exited, running, waitingAgain } from './container-transitions.ts';
import { type ContainerListener, RunningContainer } from './running-container.ts';

/** When the node itself stops, which has to be quick. */
export const SHUTDOWN_GRACE_MS = 1_000;
/** What is missing from a container's configuration is looked for again after this time. */
const BLOCKED_RETRY_MS = 2_000;
/** A container runtime reports a command that cannot be executed with this code. */
const START_ERROR_EXIT_CODE = 128;

/** A container of a Pod, as it is now. */
export interface ContainerMember {
  container: Container;
  readonly kind: ContainerKind;
  record: ContainerRecord;
  running: RunningContainer | undefined;
}

export interface ContainerStarterOptions {
  readonly context: NodeContext;
  readonly pod: Pod;
  readonly events: PodEvents;
  /** Of the Pod as it is now. */
  readonly sandbox: () => Sandbox;
  /** Resolves once the records as they are now are on file. */
  readonly saved: () => Promise<void>;
  /** The records are as they are for a moment only, which is to be shown. */
  readonly onStep: () => void;
}

export class ContainerStarter {
  readonly #options: ContainerStarterOptions;
  readonly #members: ReadonlyMap<string, ContainerMember>;
  readonly #listen: (member: ContainerMember) => ContainerListener;
  #isClosed = false;

  /** `members`: all of the Pod. `listen`: who is told of what happens to a process. */
  constructor(
    options: ContainerStarterOptions,
    members: ReadonlyMap<string, ContainerMember>,
    listen: (member: ContainerMember) => ContainerListener,
  ) {
    this.#options = options;
    this.#members = members;
    this.#listen = listen;
  }

  /** What starts from now on is ended at once. */
  close(): void {
    this.#isClosed = true;
  }

  /** Never rejects: what stands against it is in the record then. */
  async start(member: ContainerMember, before: ContainerRecord): Promise<void> {
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
  }

  /** Takes over the process that an earlier life of the node has started, if it is there. */
  async resume(member: ContainerMember): Promise<void> {
    const { context, pod, sandbox } = this.#options;
    const { container, record } = member;
    const { life, restartCount: restart } = record;
    if (life.state !== 'running' && life.state !== 'starting') return;
    const { containerID, startedMs } =
      life.state === 'running' ? life : { containerID: undefined, startedMs: undefined };
    const marker = markerOf(pod.metadata.uid ?? '', container.name, restart);
    const run = { marker, restart, containerID, startedMs };
    const listener = this.#listen(member);
    const one = await RunningContainer.resume(context, sandbox(), container, run, listener);
    if (one === undefined) {
      member.record = withoutProcess(record, this.#now());
    } else if (life.state === 'starting') {
      await this.#started(member, one);
    } else {
      member.running = one;
      member.record = takenOver(record, one.main.wasOver);
      one.goOn(life.started);
    }
  }

  /** Who looks into a container sees its processes. */
  #placeOf({ kind, container: { name } }: ContainerMember): Sandbox {
    const { pod, sandbox } = this.#options;
    const place = sandbox();
    if (kind !== 'ephemeral') return place;
    const { ephemeralContainers = [] } = place.facts.pod.spec;
    const target = ephemeralContainers.find((one) => one.name === name)?.targetContainerName;
    if (target === undefined || target === '' || pod.spec.hostPID === true) return place;
    const pid = this.#members.get(target)?.running?.main.launch.entry?.pid;
    if (pid !== undefined) return { ...place, holder: () => Promise.resolve(pid) };
    const namespaces = this.#options.context.namespaces?.type === 'available';
    if (!namespaces) return place;
    const message = `the container "${target}", whose processes it is to see, does not run`;
    throw new LaunchBlockedError('CreateContainerError', message, true);
  }

  #startProcess(
    member: ContainerMember,
    place: Sandbox,
    launch: Launch,
    restart: number,
  ): Promise<RunningContainer> {
    const { context } = this.#options;
    const listener = this.#listen(member);
    return RunningContainer.start(context, place, member.container, launch, restart, listener);
  }

  async #started(member: ContainerMember, one: RunningContainer): Promise<void> {
    const { events } = this.#options;
    const { container, record } = member;
    for (const each of this.#members.values()) each.record = waitingAgain(each.record);
    member.running = one;
    const waits =
      container.startupProbe !== undefined || container.lifecycle?.postStart !== undefined;
    member.record = running(record, one.main.containerID, one.main.startedMs, {
      startup: waits,
      readiness: container.readinessProbe !== undefined,
    });
    if (this.#isClosed) {
      await one.stop(SHUTDOWN_GRACE_MS, false);
      await one.main.exited;
      return;
    }
    events.container(member.record, 'Normal', 'Created', 'Container created');
    events.container(member.record, 'Normal', 'Started', 'Container started');
    // One that ends at once was running all the same.
    if (member.kind === 'init') this.#options.onStep();
    one.begin();
  }

  /** The command cannot be executed: for the API the container has started and failed. */
  #failed(member: ContainerMember, why: string): void {
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

  #now(): number {
    return this.#options.context.clock.now();
  }
}
