import { type Clock, sleep } from './ports/clock.ts';
import type { Transport } from './ports/transport.ts';

export interface RateLimit {
  /** Requests a second on average; negative: no limit. */
  readonly qps: number;
  /** Requests that may come at once after a pause. */
  readonly burst: number;
  readonly clock: Clock;
}

/**
 * A transport that sends requests no faster than a token bucket allows, in the order in which they
 * came, as client-go limits its clients. A request that is given up while it waits keeps its turn.
 */
export function rateLimited(transport: Transport, { qps, burst, clock }: RateLimit): Transport {
  if (qps < 0) return transport;
  let tokens = burst;
  let seenMs = clock.monotonic();
  return {
    send: async (request) => {
      const nowMs = clock.monotonic();
      tokens = Math.min(burst, tokens + ((nowMs - seenMs) * qps) / 1000) - 1;
      seenMs = nowMs;
      if (tokens < 0) await sleep(clock, (-tokens * 1000) / qps, request.signal);
      return transport.send(request);
    },
  };
}
