/**
 * Runs the barrier: events come in from the channel, from signals and from the worker; effects go
 * out to the channel, the marker and the body. One step at a time, in order.
 */
import { ENV_LOST_NODE_DEADLINE } from '../jobset/names.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { Logger } from '../runtime/ports/logger.ts';
import { type Barrier, type BarrierEvent, type Effect, type LeaveReason, step } from './barrier.ts';
import type { Channel } from './channel.ts';
import type { Marker, MarkerStore } from './marker.ts';
import { PodLease, type PodLeaseOptions, UNCONFIRMED_AFTER_MS } from './pod-lease.ts';
import type { ProgressWatch } from './progress/progress-watch.ts';
import type { WorkerExit } from './worker-exit.ts';

/** The part of the agent that starts and stops the worker: a sidecar or a supervisor. */
export interface Body {
  readonly mode: Barrier['mode'];
  /**
   * Lets the worker of `epoch` start. A supervisor calls `ended` when the worker and all of its
   * descendants are gone, however they ended.
   */
  lift(epoch: number, ended: (exit: WorkerExit, restartsGroup: boolean) => void): void;
  /** What the worker reports. The body begins it at each lift, and then looks several times a second. */
  readonly progress: ProgressWatch;
  /**
   * Ends the worker; `ended` tells when. One that was silent for long is looked into and killed, as
   * by `killHung`. Never called in sidecar mode.
   */
  stopWorker(how: { readonly isSilent: boolean }): void;
  /**
   * Looks into the worker for a limited time and kills it without grace; `ended` tells when. Never
   * called in sidecar mode.
   */
  killHung(): void;
  /** Ends a look into a hung worker at once, because the agent cannot wait. The worker is killed. */
  hurry(): void;
}

export interface AgentOptions {
  readonly jobSetUid: string | undefined;
  /** The marker as it was read before the start. */
  readonly marker: Marker;
  readonly markers: MarkerStore;
  readonly channel: Channel;
  readonly body: Body;
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
  /** Resolves when the agent has to leave its container; rejects when it cannot go on. */
  readonly left: Promise<LeaveReason>;
}

/** Logged when the hub or API server reports the JobSet but does not confirm the Pod. */
const NO_CONFIRMATION = `a confirmation that the Pod exists, which ${ENV_LOST_NODE_DEADLINE} requires: from the hub, unless the operator is of an older version, or from the API server, if the agent may patch its Pod`;
const NO_CONTACT = 'any answer from the hub or the API server';

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
    podEnding: () => running.dispatch({ type: 'podEnding' }),
    podLives: (askedMs) => {
      lease?.renew(askedMs);
      if (lease?.isHeld() === true) running.dispatch({ type: 'podLives' });
    },
    answered: () => undefined,
    progress: () => options.body.progress.progress,
  });
  lease?.start();
  return {
    left: running.left.finally(() => {
      lease?.stop();
      channel.close();
    }),
    stop: (signal) => running.dispatch({ type: 'stop', signal }),
  };
}

class RunningAgent {
  readonly left: Promise<LeaveReason>;
  readonly #options: AgentOptions;
  readonly #events: BarrierEvent[] = [];
  #state: Barrier;
  #isStepping = false;
  #notice: Promise<void> = Promise.resolve();
  #leave: (reason: LeaveReason) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#state = {
      mode: options.body.mode,
      jobSetUid: options.jobSetUid,
      marker: options.marker,
      known: undefined,
      isPodEnding: false,
      isCutOff: options.lease !== undefined,
      stage: { name: 'Unsynced' },
    };
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
        body.lift(effect.epoch, (exit, restartsGroup) => {
          logger.info('the worker ended', { ...exit.end, epoch: effect.epoch });
          this.dispatch({ type: 'workerEnded', exit, restartsGroup });
        });
        break;
      case 'stopWorker':
        logger.info('stops the worker');
        body.stopWorker({ isSilent: false });
        break;
      case 'giveNotice':
        this.#notice = channel.giveNotice(effect.epoch);
        break;
      case 'leave':
        logger.info('leaves the container', { reason: effect.reason.type });
        // The notice is bounded in time and never fails.
        void this.#notice.then(() => this.#leave(effect.reason));
        break;
    }
  }

  #writeMarker(marker: Marker): void {
    this.#options.markers.write(marker).then(
      () => this.dispatch({ type: 'markerWritten' }),
      (cause: unknown) => {
        this.#fail(new Error(`the marker could not be written: ${String(cause)}`, { cause }));
      },
    );
  }
}
