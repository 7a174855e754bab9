/**
 * One Pod of a simulated group: the barrier and the watch for hangs of its supervising agent, and a
 * worker that ends when it is told to.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import { mayHang, step } from '../../agent/barrier.ts';
import type { Barrier, BarrierEvent, Effect } from '../../agent/barrier-state.ts';
import type { GroupSnapshot } from '../../agent/channel.ts';
import { NO_MARKER } from '../../agent/marker.ts';
import { HangWatch } from '../../agent/progress/hang-watch.ts';
import { MemberProgress } from '../../agent/progress/member-progress.ts';
import type { OwnEnd } from '../../agent/worker-exit.ts';
import type { Announcement } from '../../jobset/worker-end/announcement.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** The group around it. */
export interface Surroundings {
  readonly time: SimulatedTime;
  readonly size: number;
  announce(member: SimulatedMember, announcement: Announcement): void;
  lifted(member: SimulatedMember, epoch: number): void;
}

/** Where its Pod is. */
export interface SimulatedPod {
  /** Completion index. */
  readonly slot: number;
  readonly podUid: string;
  readonly node: string;
}

export class SimulatedMember {
  readonly pod: SimulatedPod;
  /** The epoch in which its worker runs. */
  epoch: number | undefined;
  /** It is the one that stopped without a word. */
  isStuck = false;
  readonly progress = new MemberProgress();
  readonly #hangs = new HangWatch(this.progress, undefined);
  readonly #around: Surroundings;
  readonly #events: BarrierEvent[] = [];
  #isStepping = false;
  #barrier: Barrier;

  constructor(pod: SimulatedPod, jobSetUid: string, around: Surroundings) {
    this.pod = pod;
    this.#around = around;
    this.#barrier = {
      mode: 'Supervisor',
      jobSetUid,
      marker: NO_MARKER,
      known: undefined,
      isPodEnding: false,
      isCutOff: false,
      stage: { name: 'Unsynced' },
    };
  }

  hear(snapshot: GroupSnapshot): void {
    this.#dispatch({ type: 'snapshot', snapshot });
  }

  /** Its announcement has arrived. */
  announced(epoch: number): void {
    this.#dispatch({ type: 'announced', epoch });
  }

  /** Its worker fails by itself. */
  fail(): void {
    this.#ended({ how: 'Exited', exit: { exitCode: 1 }, restartsGroup: true });
  }

  /** Looks for progress, as its agent does several times a second. */
  look(): void {
    if (this.epoch === undefined) return;
    const { nowMs } = this.#around.time;
    this.progress.look(nowMs);
    const timeouts = mayHang(this.#barrier) ? this.#barrier.known?.timeouts : undefined;
    if (timeouts?.progressTimeout === undefined) return;
    if (this.#hangs.look(nowMs, timeouts) === undefined) return;
    // It asks the hub, which answers.
    this.#hangs.answered(nowMs);
    if (this.#hangs.look(nowMs, timeouts) !== 'Hung') return;
    this.#hangs.noteHang();
    const worker = { epoch: this.epoch, silentMs: this.progress.silentMs, endedMs: nowMs };
    this.#dispatch({ type: 'hung', worker });
  }

  /** An event that comes while another is handled waits for its turn. */
  #dispatch(event: BarrierEvent): void {
    this.#events.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      const { state, effects } = step(this.#barrier, next);
      this.#barrier = state;
      for (const effect of effects) this.#carryOut(effect);
    }
    this.#isStepping = false;
  }

  #carryOut(effect: Effect): void {
    switch (effect.type) {
      case 'writeMarker':
        this.#dispatch({ type: 'markerWritten' });
        break;
      case 'announce':
        this.#around.announce(this, effect.announcement);
        break;
      case 'lift':
        this.epoch = effect.epoch;
        this.isStuck = false;
        this.progress.begin(this.#around.time.nowMs);
        this.#hangs.begin(this.#around.size);
        this.#around.lifted(this, effect.epoch);
        break;
      case 'stopWorker':
        this.#ended({ how: 'Stopped', exit: { signal: 'SIGTERM' } });
        break;
      case 'killHung':
        this.#ended({ how: 'Hung', exit: { signal: 'SIGKILL' }, restartsGroup: true });
        break;
      case 'preflight':
      case 'cutPreflight':
      case 'giveNotice':
      case 'leave':
      case 'missNumbers':
        throw new Error(`the effect ${effect.type} is no part of this benchmark`);
    }
  }

  #ended(how: Pick<OwnEnd, 'how' | 'exit' | 'restartsGroup'>): void {
    const { epoch } = this;
    if (epoch === undefined) return;
    const { silentMs, longestMs, progress } = this.progress;
    this.epoch = undefined;
    const signs = { silentMs, ...defined({ longestMs, step: progress?.step }) };
    const end = { epoch, ...how, ...signs, atMs: this.#around.time.nowMs };
    this.#dispatch({ type: 'workerEnded', end });
  }
}
