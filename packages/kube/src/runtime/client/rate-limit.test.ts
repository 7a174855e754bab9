import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../memory/virtual-clock.ts';
import type { HttpRequest, Transport } from '../ports/transport.ts';
import { TokenBucket } from '../token-bucket.ts';
import { rateLimited } from './rate-limit.ts';

/** When each of `count` simultaneous requests is sent. */
async function sendTimes(
  count: number,
  perSecond: number,
  burst: number,
): Promise<readonly number[]> {
  const clock = new VirtualClock();
  const startMs = clock.monotonic();
  const sent: number[] = [];
  const transport: Transport = {
    send: () => {
      sent.push(clock.monotonic() - startMs);
      return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array() });
    },
  };
  const bucket = new TokenBucket({ perSecond, burst }, clock);
  const limited = rateLimited(transport, { bucket, clock });
  const signal = new AbortController().signal;
  const request: HttpRequest = { method: 'GET', path: '/', headers: {}, signal };
  const all = Promise.all(Array.from({ length: count }, () => limited.send(request)));
  await clock.advance(60_000);
  await all;
  return sent;
}

describe('a rate limit', () => {
  it('lets a burst through and spaces what comes after it', async () => {
    expect(await sendTimes(6, 10, 3)).toEqual([0, 0, 0, 100, 200, 300]);
  });

  it('is not used up by requests that are given up while they wait', async () => {
    const clock = new VirtualClock();
    const sent: string[] = [];
    const transport: Transport = {
      send: ({ path }) => {
        sent.push(path);
        return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array() });
      },
    };
    const bucket = new TokenBucket({ perSecond: 1, burst: 1 }, clock);
    const limited = rateLimited(transport, { bucket, clock });
    const giveUp = new AbortController();
    const send = (path: string, { signal } = new AbortController()) =>
      limited.send({ method: 'GET', path, headers: {}, signal });
    await send('first');
    const flood = Array.from({ length: 10 }, () => send('flood', giveUp).catch(() => undefined));
    giveUp.abort();
    await Promise.all(flood);
    const next = send('next');
    await clock.advance(1000);
    await next;
    expect(sent).toEqual(['first', 'next']);
  });

  it('fills up again in a pause, to the burst and not beyond it', async () => {
    const clock = new VirtualClock();
    let sent = 0;
    const transport: Transport = {
      send: () => {
        sent += 1;
        return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array() });
      },
    };
    const bucket = new TokenBucket({ perSecond: 1, burst: 2 }, clock);
    const limited = rateLimited(transport, { bucket, clock });
    const signal = new AbortController().signal;
    const send = () => limited.send({ method: 'GET', path: '/', headers: {}, signal });
    await Promise.all([send(), send()]);
    await clock.advance(3_600_000);
    const later = Promise.all([send(), send(), send()]);
    await clock.advance(0);
    expect(sent).toBe(4);
    await clock.advance(1_000);
    await later;
    expect(sent).toBe(5);
  });
});
