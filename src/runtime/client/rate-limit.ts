import { type Clock, sleep } from '../ports/clock.ts';
import type { Transport } from '../ports/transport.ts';
import type { TokenBucket } from '../token-bucket.ts';

export interface RateLimit {
  readonly bucket: TokenBucket;
  /** Pays for each request that is sent, too, and is not waited for. */
  readonly alsoPays?: TokenBucket | undefined;
  readonly clock: Clock;
}

/**
 * A transport that sends requests no faster than a token bucket allows, in the order in which they
 * came, as client-go limits its clients. A request that is given up while it waits costs nothing, so
 * that a flood of them does not hold up what comes after it.
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
