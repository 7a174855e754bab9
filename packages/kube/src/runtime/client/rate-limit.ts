/** Limits the rate of a client's requests. */
import { type Clock, sleep } from '../ports/clock.ts';
import type { Transport } from '../ports/transport.ts';
import type { TokenBucket } from '../token-bucket.ts';

export interface RateLimit {
  readonly bucket: TokenBucket;
  /** A second bucket that each sent request pays into debt, but never waits for. */
  readonly alsoPays?: TokenBucket | undefined;
  readonly clock: Clock;
}

/**
 * A transport that sends requests in order, no faster than a token bucket allows, as client-go
 * does. A request that is given up while it waits costs nothing, so a flood of them does not hold
 * up later ones.
 */
export function rateLimited(
  transport: Transport,
  { bucket, alsoPays, clock }: RateLimit,
): Transport {
  return {
    send: async (request) => {
      const waitMs = bucket.take();
      try {
        if (waitMs > 0) await sleep(clock, waitMs, request.signal);
      } catch (error) {
        bucket.giveBack();
        throw error;
      }
      alsoPays?.take();
      return transport.send(request);
    },
  };
}
