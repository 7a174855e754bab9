/**
 * The agent of one member over the hub, reduced to what a healthy network needs: the real barrier of
 * a supervisor, its messages, and the real watch for hangs if its worker reports progress. The worker
 * starts and stops at once. It holds no timer, so a group of thousands costs little: the caller lets
 * it look and ping.
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { mayHang, step } from '../../agent/barrier.ts';
import type { Barrier, BarrierEvent, Effect } from '../../agent/barrier-state.ts';
import { NO_MARKER } from '../../agent/marker.ts';
import { HangWatch } from '../../agent/progress/hang-watch.ts';
import { MemberProgress } from '../../agent/progress/member-progress.ts';
import type { OwnEnd } from '../../agent/worker-exit.ts';
import {
  type AgentMessage,
  encodeAgentMessage,
  parseHubMessage,
} from '../../jobset/hub/message.ts';

export interface AgentWorld {
  readonly clock: Clock;
  readonly jobSetUid: string;
  /** Takes bytes to the hub. */
  send(bytes: Uint8Array, type: AgentMessage['type']): void;
  started(epoch: number): void;
  stopped(epoch: number): void;
}

export class HubAgent {
  readonly #world: AgentWorld;
  /** Absent until the worker reports, because a large group has no memory to spare. */
  #watch: { readonly progress: MemberProgress; readonly hangs: HangWatch } | undefined;
  #barrier: Barrier;
  #epoch: number | undefined;
  #isOver = false;

  constructor(world: AgentWorld) {
    this.#world = world;
    this.#barrier = {
      mode: 'Supervisor',
      jobSetUid: world.jobSetUid,
      marker: NO_MARKER,
      known: undefined,
      isPodEnding: false,
      isCutOff: false,
      stage: { name: 'Unsynced' },
    };
  }

  /** The epoch in which the worker runs. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  greet(): void {
    const { jobSetUid } = this.#world;
    this.#say({ type: 'hello', jobSetUid, announcement: undefined });
  }

  /** One line from the hub. Throws at a message that a healthy network never causes. */
  hear(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const text = new TextDecoder().decode(bytes);
    const message = parseHubMessage(text);
    if (message.type === 'pong') this.#watch?.hangs.answered(this.#world.clock.monotonic());
    else if (message.type === 'state') {
      const { state, isFresh, members } = message;
      this.#dispatch({ type: 'snapshot', snapshot: { ...state, isFresh, members } });
    } else throw new Error(`an agent did not expect ${text}`);
  }

  /** The worker dies, if it runs. */
  fail(): void {
    this.#ended({ how: 'Exited', exit: { exitCode: 1 }, restartsGroup: true });
  }

  /** The worker wrote a line about its progress at that monotonic time. The next `ping` tells the hub. */
  report(line: string, atMs: number): void {
    if (this.#epoch === undefined) return;
    this.#watch ??= this.#newWatch(atMs);
    this.#watch.progress.look(atMs);
    this.#watch.progress.took(line);
  }

  ping(): void {
    this.#say({ type: 'ping' });
  }

  /** Looks for progress, as an agent does several times a second. */
  look(): void {
    if (this.#epoch === undefined || this.#watch === undefined) return;
    const nowMs = this.#world.clock.monotonic();
    const { progress, hangs } = this.#watch;
    progress.look(nowMs);
    const timeouts = mayHang(this.#barrier) ? this.#barrier.known?.timeouts : undefined;
    if (timeouts === undefined) return;
    const finding = hangs.look(nowMs, timeouts);
    if (finding === 'Ask') this.ping();
    if (finding !== 'Hung') return;
    hangs.noteHang();
    const worker = { epoch: this.#epoch, silentMs: progress.silentMs, endedMs: nowMs };
    this.#dispatch({ type: 'hung', worker });
  }

  /** Its Pod is gone. */
  end(): void {
    this.#isOver = true;
    this.#epoch = undefined;
  }

  #newWatch(nowMs: number): { readonly progress: MemberProgress; readonly hangs: HangWatch } {
    const progress = new MemberProgress();
    progress.begin(nowMs);
    return { progress, hangs: new HangWatch(progress, undefined) };
  }

  #dispatch(event: BarrierEvent): void {
    const { state, effects } = step(this.#barrier, event);
    this.#barrier = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: Effect): void {
    switch (effect.type) {
      case 'writeMarker':
        this.#dispatch({ type: 'markerWritten' });
        break;
      case 'announce':
        this.#say({ type: 'announce', announcement: effect.announcement });
        this.#dispatch({ type: 'announced', epoch: effect.announcement.epoch });
        break;
      case 'lift':
        this.#epoch = effect.epoch;
        this.#watch?.progress.begin(this.#world.clock.monotonic());
        this.#watch?.hangs.begin(this.#barrier.known?.members ?? 0);
        this.#world.started(effect.epoch);
        break;
      case 'stopWorker':
        this.#ended({ how: 'Stopped', exit: { signal: 'SIGTERM' } });
        break;
      case 'killHung':
        this.#ended({ how: 'Hung', exit: { signal: 'SIGKILL' }, restartsGroup: true });
        break;
      case 'cutPreflight':
      case 'giveNotice':
      case 'leave':
      case 'missNumbers':
      case 'preflight':
        throw new Error(`the effect ${effect.type} is no part of a restart over a healthy network`);
    }
  }

  #ended(how: Pick<OwnEnd, 'how' | 'exit' | 'restartsGroup'>): void {
    const epoch = this.#epoch;
    if (epoch === undefined) return;
    this.#epoch = undefined;
    this.#world.stopped(epoch);
    const end = { epoch, ...how, ...this.#signs(), atMs: this.#world.clock.monotonic() };
    this.#dispatch({ type: 'workerEnded', end });
  }

  #signs(): Pick<OwnEnd, 'silentMs' | 'longestMs' | 'step'> {
    if (this.#watch === undefined) return {};
    const { silentMs, longestMs, progress } = this.#watch.progress;
    return { silentMs, ...defined({ longestMs, step: progress?.step }) };
  }

  #say(message: AgentMessage): void {
    if (this.#isOver) return;
    const progress = this.#watch?.progress.toldAt(this.#world.clock.monotonic());
    const told = message.type === 'notice' ? message : { ...message, progress };
    this.#world.send(new TextEncoder().encode(encodeAgentMessage(told)), message.type);
  }
}
