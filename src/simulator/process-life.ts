/**
 * One process of the simulated world: its clock and its way to the API server. Both stop while it is
 * paused, and end with it. A killed process does nothing more, so it cleans nothing up.
 */

import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import {
  type HttpHandler,
  type Transport,
  TransportError,
} from '@lockstep/kube/runtime/ports/transport.ts';
import type { Weather } from './weather.ts';

export class ProcessLife {
  readonly clock: Clock;
  readonly transport: Transport;
  /** How far the wall clock is ahead of the world's; negative: behind. */
  aheadMs = 0;
  readonly #ended = new AbortController();
  #paused: { readonly over: Promise<void>; readonly end: () => void } | undefined;

  constructor(world: VirtualClock, server: Transport, weather: Weather) {
    this.clock = {
      now: () => world.now() + this.aheadMs,
      monotonic: () => world.monotonic(),
      setTimer: (delayMs, fire) => this.#setTimer(world, delayMs, fire),
    };
    this.transport = {
      send: async (request) => {
        await this.#runs();
        const signal = AbortSignal.any([request.signal, this.gone]);
        try {
          const response = await weather.send({ ...request, signal }, server, world);
          return response.body instanceof Uint8Array
            ? response
            : { ...response, body: this.#read(response.body) };
        } finally {
          await this.#runs();
        }
      },
    };
  }

  /** Aborts when the process is gone. */
  get gone(): AbortSignal {
    return this.#ended.signal;
  }

  kill(): void {
    this.#ended.abort(new TransportError('the process was killed'));
    this.resume();
  }

  pause(): void {
    if (this.#paused !== undefined) return;
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#paused = { over, end };
  }

  resume(): void {
    this.#paused?.end();
    this.#paused = undefined;
  }

  /** Something reaches the process: once it runs, and never if it is gone. */
  deliver(call: () => void): void {
    if (this.gone.aborted) return;
    if (this.#paused === undefined) call();
    else void this.#paused.over.then(() => this.deliver(call));
  }

  /** The way to a server in this process: paused, it answers later; the connections of a dead one break. */
  serve(handler: HttpHandler): Transport {
    const served = handlerTransport(async (request) => {
      await this.#runs();
      const response = await handler(request);
      await this.#runs();
      return response;
    });
    return {
      send: (request) =>
        served.send({ ...request, signal: AbortSignal.any([request.signal, this.gone]) }),
    };
  }

  /** A paused process finds due timers when it is continued. */
  #setTimer(world: VirtualClock, delayMs: number, fire: () => void): Timer {
    let isCancelled = false;
    const timer = world.setTimer(delayMs, () => {
      this.deliver(() => {
        if (!isCancelled) fire();
      });
    });
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  async *#read(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of body) {
      await this.#runs();
      yield chunk;
    }
  }

  /** Resolves once the process is not paused, and never if it is gone: nothing in it runs then. */
  async #runs(): Promise<void> {
    while (this.#paused !== undefined) await this.#paused.over;
    if (this.gone.aborted) await new Promise(() => undefined);
  }
}
