/**
 * One member of a predicted group: the barrier of its supervisor, its messages, and a worker that
 * starts and stops at once. It sends no pings: their cost slows down the hub's thread instead.
 */
import { step } from '../../agent/barrier.ts';
import type { Barrier, BarrierEvent, Effect } from '../../agent/barrier-state.ts';
import { NO_MARKER } from '../../agent/marker.ts';
import type { OwnEnd } from '../../agent/worker-exit.ts';
import {
  type AgentMessage,
  encodeAgentMessage,
  parseHubMessage,
} from '../../jobset/hub/message.ts';

export interface AgentWorld {
  readonly jobSetUid: string;
  /** Takes bytes to the hub. */
  send(bytes: Uint8Array): void;
  started(epoch: number): void;
  stopped(epoch: number): void;
}

export class PredictedAgent {
  readonly #world: AgentWorld;
  #barrier: Barrier;
  #epoch: number | undefined;

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

  greet(): void {
    const { jobSetUid } = this.#world;
    this.#say({ type: 'hello', jobSetUid, announcement: undefined });
  }

  /** One line from the hub. Throws if it is anything but a state, because nothing else fits here. */
  hear(bytes: Uint8Array): void {
    const text = new TextDecoder().decode(bytes);
    const message = parseHubMessage(text);
    if (message.type !== 'state') throw new Error(`an agent did not expect ${text}`);
    const { state, isFresh, members } = message;
    this.#dispatch({ type: 'snapshot', snapshot: { ...state, isFresh, members } });
  }

  /** The worker dies. */
  fail(): void {
    this.#ended({ exit: { exitCode: 1 }, restartsGroup: true });
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
        this.#world.started(effect.epoch);
        break;
      case 'stopWorker':
        this.#ended({ exit: { signal: 'SIGTERM' } });
        break;
      case 'cutPreflight':
      case 'giveNotice':
      case 'killHung':
      case 'leave':
      case 'missNumbers':
      case 'preflight':
        throw new Error(`the effect ${effect.type} is no part of a restart without other faults`);
    }
  }

  #ended(how: Pick<OwnEnd, 'exit' | 'restartsGroup'>): void {
    const epoch = this.#epoch;
    if (epoch === undefined) throw new Error('a worker ended that did not run');
    this.#epoch = undefined;
    this.#world.stopped(epoch);
    this.#dispatch({ type: 'workerEnded', end: { epoch, how: 'Exited', ...how, atMs: 0 } });
  }

  #say(message: AgentMessage): void {
    this.#world.send(new TextEncoder().encode(encodeAgentMessage(message)));
  }
}
