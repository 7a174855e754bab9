/**
 * Runs the barrier: events come in from the channel, from signals and from the worker; effects go
 * out to the channel, the marker and the body. One step at a time, in order.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { ENV_LOST_NODE_DEADLINE } from '../jobset/names.ts';
import { isSameTimeouts, type ProgressTimeouts } from '../jobset/progress/progress-timeouts.ts';
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';
import { isSuccess } from '../jobset/worker-end/worker-end.ts';
import { mayHang, step } from './barrier.ts';
import type { Barrier, BarrierEvent, Effect, LeaveReason } from './barrier-state.ts';
import type { Channel } from './channel.ts';
import type { HungWorker, Marker, MarkerStore } from './marker.ts';
import { type OwnRanks, whyNoNumbers } from './own-ranks.ts';
import { PodLease, type PodLeaseOptions, UNCONFIRMED_AFTER_MS } from './pod-lease.ts';
import { HangWatch } from './progress/hang-watch.ts';
import type { MemberProgress } from './progress/member-progress.ts';
import { endOfHung, type OwnEnd } from './worker-exit.ts';

/** The part of the agent that starts and stops the worker: a sidecar or a supervisor. */
export interface Body {
  readonly mode: Barrier['mode'];
  /**
   * Lets the worker of `epoch` start. A supervisor calls `ended` when the worker and all of its
   * descendants are gone, however they ended. `ranks` are the numbers of the ranks of this member in
   * that epoch; absent: its worker is no rank.
   */
  lift(epoch: number, ended: (end: OwnEnd) => void, ranks?: MemberRanks): void;
  /** The worker's reports. The body begins it at each lift, and then looks several times a second. */
  readonly progress: MemberProgress;
  /**
   * Ends the worker; `ended` is called then. Looks into a worker that was silent for long, and kills
   * it, as `killHung` does. Never called in sidecar mode.
   */
  stopWorker(how: { readonly isSilent: boolean }): void;
  /**
   * Looks into the worker for a limited time and kills it without grace; `ended` is called then.
   * Never called in sidecar mode.
   */
  killHung(): void;
  /**
   * Runs the command that checks the machine, for a limited time. Once all processes of the command
   * are gone, `ended` gets the reason why the machine did not pass. Absent: no command is set.
   */
  readonly preflight?: (ended: (unfit: string | undefined) => void) => void;
  /**
   * Ends a look into a hung worker, or a preflight, at once, because the agent cannot wait. The worker
   * is killed, and the preflight has no result.
   */
  hurry(): void;
  /**
   * Takes the last reports of the worker, which the agent passes on before it leaves. Never rejects,
   * and never blocks. Absent: the body takes them when the worker ends.
   */
  readLast?(): Promise<void>;
  /**
   * Kills the warm standby of the worker, if there is one, until the next lift. Resolves when it is
   * gone with its descendants, or after a limited time.
   */
  dropStandby?(): Promise<void>;
}

export interface AgentOptions {
  readonly jobSetUid: string | undefined;
  /** The marker as it was read before the start. */
  readonly marker: Marker;
  readonly markers: MarkerStore;
  readonly channel: Channel;
  readonly body: Body;
  /** The ranks that the body starts; absent: its worker is no rank. */
  readonly ownRanks?: OwnRanks | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * If present, a worker must stop after this time without confirmation that its Pod still exists.
   */
  readonly lease?: Pick<PodLeaseOptions, 'random' | 'leaseMs'> | undefined;
}

export interface Agent {
  /** The agent is told to end by a signal. */
  stop(signal: string): void;
  /** Resolves when the agent has to leave its container; rejects when it cannot continue. */
  readonly left: Promise<LeaveReason>;
}

/** Logged when the hub or API server reports the JobSet but does not confirm the Pod. */
const NO_CONFIRMATION = `a confirmation that the Pod exists, which ${ENV_LOST_NODE_DEADLINE} requires: from the hub, unless the operator is of an older version, or from the API server, if the agent may patch its Pod`;
const NO_CONTACT = 'any answer from the hub or the API server';

/** As often as the body looks at the worker's reports. */
const LOOK_INTERVAL_MS = 250;
/** The log reports that the server is silent after this many questions without an answer. */
const ASKS_TOLD = 5;

export function startAgent(options: AgentOptions): Agent {
  const { channel, logger } = options;
  const running = new RunningAgent(options);
  const lease =
    options.lease === undefined
      ? undefined
      : new PodLease({
          ...options.lease,
          clock: options.clock,
          ask: () => channel.askForPod(),
          lapsed: () => {
            logger.warn('cut off for too long: the Pod may count as dead, so nothing runs in it');
            running.dispatch({ type: 'cutOff' });
            options.body.hurry();
            void options.body.dropStandby?.();
          },
          unconfirmed: () => {
            logger.warn('no worker may run: no answer confirms that the Pod is still there', {
              waitedSeconds: UNCONFIRMED_AFTER_MS / 1000,
              missing: running.isInTouch ? NO_CONFIRMATION : NO_CONTACT,
            });
          },
        });
  channel.open({
    snapshot: (snapshot) => running.dispatch({ type: 'snapshot', snapshot }),
    announced: (epoch) => running.dispatch({ type: 'announced', epoch }),
    podEnding: () => {
      running.dispatch({ type: 'podEnding' });
      void options.body.dropStandby?.();
    },
    podLives: (askedMs) => {
      lease?.renew(askedMs);
      if (lease?.isHeld() === true) running.dispatch({ type: 'podLives' });
    },
    answered: (askedMs) => running.answered(askedMs),
    progress: () => options.body.progress.toldAt(options.clock.monotonic()),
  });
  lease?.start();
  return {
    left: running.left.finally(() => {
      lease?.stop();
      running.close();
      channel.close();
    }),
    stop: (signal) => {
      running.dispatch({ type: 'stop', signal });
      options.body.hurry();
      void options.body.dropStandby?.();
    },
  };
}

class RunningAgent {
  readonly left: Promise<LeaveReason>;
  readonly #options: AgentOptions;
  readonly #events: BarrierEvent[] = [];
  #state: Barrier;
  readonly #hangs: HangWatch;
  #lookTimer: Timer | undefined;
  #writes: Promise<void> = Promise.resolve();
  #isStepping = false;
  #notice: Promise<void> = Promise.resolve();
  #leave: (reason: LeaveReason) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#state = {
      mode: options.body.mode,
      hasPreflight: options.body.preflight !== undefined,
      jobSetUid: options.jobSetUid,
      marker: options.marker,
      known: undefined,
      isPodEnding: false,
      isCutOff: options.lease !== undefined,
      stage: { name: 'Unsynced' },
      end: endOfHung(options.marker.hung, options.clock),
      ownRanks: options.ownRanks,
    };
    this.#hangs = new HangWatch(options.body.progress, options.marker.learnt);
    this.left = new Promise((resolve, reject) => {
      this.#leave = resolve;
      this.#fail = reject;
    });
  }

  /** Whether the agent has heard of the JobSet. */
  get isInTouch(): boolean {
    return this.#state.known !== undefined;
  }

  /** An event that arrives while another is handled waits for its turn. */
  dispatch(event: BarrierEvent): void {
    this.#events.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      const { state, effects } = step(this.#state, next);
      this.#state = state;
      for (const effect of effects) this.#carryOut(effect);
    }
    this.#isStepping = false;
    this.#scheduleLook();
  }

  /** The hub or the API server answered a ping. */
  answered(askedMs: number): void {
    this.#hangs.answered(askedMs);
    this.#look();
  }

  close(): void {
    this.#lookTimer?.cancel();
  }

  /** None while the worker may not be ended as hung. */
  get #timeouts(): ProgressTimeouts {
    return mayHang(this.#state) ? (this.#state.known?.timeouts ?? {}) : {};
  }

  /** An agent whose workers have no time-out looks at nothing. */
  #scheduleLook(): void {
    if (this.#lookTimer !== undefined || isSameTimeouts(this.#timeouts, {})) return;
    this.#lookTimer = this.#options.clock.setTimer(LOOK_INTERVAL_MS, () => {
      this.#lookTimer = undefined;
      this.#look();
      this.#scheduleLook();
    });
  }

  #look(): void {
    const { channel, clock, logger } = this.#options;
    const { progressTimeout } = this.#timeouts;
    const finding = this.#hangs.look(clock.monotonic(), this.#timeouts);
    if (finding === 'Ask') {
      channel.ping();
      if (this.#hangs.asks === ASKS_TOLD) {
        const why = 'neither the hub nor the API server answers';
        logger.warn('the worker makes no progress and runs on', { why, ...this.#silence() });
      }
    } else if (finding === 'Hung') this.#foundHung();
    if (progressTimeout === 'Auto' && this.#hangs.isNews) this.#keepLearnt();
  }

  /** A sidecar writes no other marker while its worker runs, and its successor is a new process. */
  #keepLearnt(): void {
    this.#write(this.#state.marker).catch((error: unknown) => {
      this.#options.logger.info('the marker could not be written', { err: String(error) });
    });
  }

  #foundHung(): void {
    const { clock, logger } = this.#options;
    const { stage } = this.#state;
    if (stage.name !== 'Running') return;
    const { epoch } = stage;
    const silence = this.#silence();
    logger.warn('the worker made no progress', { epoch, ...silence });
    this.#hangs.noteHang();
    this.dispatch({ type: 'hung', worker: { epoch, ...silence, endedMs: clock.now() } });
  }

  #silence(): Pick<HungWorker, 'silentMs' | 'step' | 'longestMs'> {
    const { progress, silentMs, longestMs } = this.#options.body.progress;
    const longest = longestMs === undefined ? undefined : Math.round(longestMs);
    const known = defined({ step: progress?.step, longestMs: longest });
    return { silentMs: Math.round(silentMs), ...known };
  }

  #carryOut(effect: Effect): void {
    const { body, channel, logger } = this.#options;
    switch (effect.type) {
      case 'writeMarker':
        this.#writeMarker(effect.marker);
        break;
      case 'announce':
        logger.info('announces an epoch', { ...effect.announcement });
        channel.announce(effect.announcement);
        break;
      case 'lift':
        logger.info('an epoch begins', { epoch: effect.epoch });
        this.#hangs.begin(this.#state.known?.members ?? 0);
        body.lift(effect.epoch, (end) => this.#workerEnded(end, effect.epoch), effect.ranks);
        break;
      case 'missNumbers':
        logger.warn('no rank may start: nothing says which numbers they have', {
          why: whyNoNumbers(this.#state.known),
        });
        break;
      case 'stopWorker':
        logger.info('stops the worker');
        body.stopWorker({ isSilent: this.#isSilent() });
        break;
      case 'killHung':
        body.killHung();
        break;
      case 'preflight':
        body.preflight?.((unfit) => this.dispatch({ type: 'preflightEnded', unfit }));
        break;
      case 'cutPreflight':
        body.hurry();
        break;
      case 'giveNotice':
        this.#notice = channel.giveNotice(effect.epoch);
        break;
      case 'leave':
        logger.info('leaves the container', { reason: effect.reason.type });
        this.#tellSuccess(effect.reason);
        // All are bounded in time and never fail.
        void Promise.all([this.#notice, body.dropStandby?.(), body.readLast?.()]).then(() =>
          this.#leave(effect.reason),
        );
        break;
    }
  }

  #workerEnded(end: OwnEnd, epoch: number): void {
    this.#options.logger.info('the worker ended', { ...end.exit, epoch });
    this.dispatch({ type: 'workerEnded', end });
  }

  /** Peers that miss this member may fail before the operator sees its Pod succeed. */
  #tellSuccess(reason: LeaveReason): void {
    if (reason.type !== 'WorkerExit' || !isSuccess(reason.end)) return;
    this.#options.channel.tellSuccess(reason.end);
  }

  #writeMarker(marker: Marker): void {
    this.#write(marker).then(
      () => this.dispatch({ type: 'markerWritten' }),
      (cause: unknown) => {
        this.#fail(new Error(`the marker could not be written: ${String(cause)}`, { cause }));
      },
    );
  }

  #isSilent(): boolean {
    const { known } = this.#state;
    return known?.isBypassed === false && this.#hangs.isSilent(known.timeouts);
  }

  /** One write at a time. */
  #write(marker: Marker): Promise<void> {
    const learnt = this.#hangs.keep();
    const whole = learnt.steps === 0 ? marker : { ...marker, learnt };
    const write = this.#writes.then(() => this.#options.markers.write(whole));
    this.#writes = write.catch(() => undefined);
    return write;
  }
}
