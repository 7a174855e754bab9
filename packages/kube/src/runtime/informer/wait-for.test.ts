import { describe, expect, it } from 'vitest';
import { PODS } from '../../objects/pod.ts';
import { failure } from '../../status.ts';
import { createClient } from '../client/http-client.ts';
import { MemoryCollection } from '../memory/memory-collection.ts';
import { handlerTransport } from '../memory/memory-transport.ts';
import { SeededRandom } from '../memory/seeded-random.ts';
import { VirtualClock } from '../memory/virtual-clock.ts';
import { waitFor } from './wait-for.ts';

function setup() {
  const server = new MemoryCollection();
  const clock = new VirtualClock();
  const random = new SeededRandom(1);
  const transport = handlerTransport(server.handler);
  const client = createClient({ transport, clock, random, userAgent: 'test/1' });
  return { server, clock, client, options: { clock, random, timeoutMs: 5_000 } };
}

const AT = { namespace: 'ns', name: 'a' };

describe('waitFor', () => {
  it('resolves with the first state that is as expected, and leaves nothing behind', async () => {
    const { server, clock, client, options } = setup();
    const isReady = (pod: { metadata: { labels?: object } } | undefined) =>
      pod?.metadata.labels !== undefined && 'ready' in pod.metadata.labels;
    const waiting = waitFor(client, PODS, AT, isReady, options);
    await clock.advance(1_000);
    server.set('a');
    await clock.settle();
    server.set('a', { ready: 'yes' });
    await clock.settle();

    expect((await waiting)?.metadata.labels).toEqual({ ready: 'yes' });
    expect(server.requests.map((query) => query.get('fieldSelector'))).toEqual([
      'metadata.name=a',
      'metadata.name=a',
    ]);
    await clock.settle();
    expect([clock.pendingTimers, server.openWatches]).toEqual([0, 0]);
  });

  it('waits for the end of an object, which may have come before', async () => {
    const { server, clock, client, options } = setup();
    const isGone = (pod: unknown) => pod === undefined;
    await expect(waitFor(client, PODS, AT, isGone, options)).resolves.toBeUndefined();
    server.set('a');
    const waiting = waitFor(client, PODS, AT, isGone, options);
    await clock.settle();
    server.delete('a');
    await clock.settle();
    await expect(waiting).resolves.toBeUndefined();
  });

  it('says what it saw last when the time is up', async () => {
    const { clock, client, options } = setup();
    const waiting = waitFor(client, PODS, AT, () => false, options).catch(
      (error: unknown) => error,
    );
    await clock.advance(5_000);
    expect(await waiting).toMatchObject({
      name: 'DeadlineError',
      message: 'pods ns/a: not as expected within 5000 ms; it does not exist',
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('says why nothing could be read when the time is up', async () => {
    const { server, clock, client, options } = setup();
    const { status } = failure('Forbidden', 'pods is forbidden');
    const body = Buffer.from(JSON.stringify(status));
    server.fault = () => ({ status: 403, headers: {}, body });
    const waiting = waitFor(client, PODS, AT, () => true, options).catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await waiting).toMatchObject({
      message: 'pods ns/a: not as expected within 5000 ms; never read',
      cause: { code: 403 },
    });
  });

  it('ends with the reason of its signal, and with what the condition throws', async () => {
    const { server, clock, client, options } = setup();
    const controller = new AbortController();
    const aborted = waitFor(client, PODS, AT, () => false, {
      ...options,
      signal: controller.signal,
    });
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');

    server.set('a');
    const faulty = (): boolean => {
      throw new Error('a bug');
    };
    await expect(waitFor(client, PODS, AT, faulty, options)).rejects.toThrow('a bug');
    expect(clock.pendingTimers).toBe(0);
  });
});
