import { describe, expect, it } from 'vitest';
import { type HttpRequest, type HttpResponse, TransportError } from '../ports/transport.ts';
import { handlerTransport } from './memory-transport.ts';

function request(signal: AbortSignal = new AbortController().signal): HttpRequest {
  return { method: 'GET', path: '/x', headers: {}, signal };
}

function ok(body: HttpResponse['body']): HttpResponse {
  return { status: 200, headers: {}, body };
}

/** Yields one chunk and then waits for ever. */
async function* endless(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array([1]);
  await new Promise<never>(() => undefined);
}

describe('handlerTransport', () => {
  it('hands the request to the handler, with its peer', async () => {
    const peer = { address: '10.0.0.1' };
    const seen: HttpRequest[] = [];
    const transport = handlerTransport(async (received) => {
      seen.push(received);
      return ok(new Uint8Array([7]));
    }, peer);
    const response = await transport.send(request());
    expect(response.body).toEqual(new Uint8Array([7]));
    expect(seen[0]).toMatchObject({ method: 'GET', path: '/x', peer });
  });

  it('gives up with the caller’s reason before, during and after the head', async () => {
    const reason = new Error('given up');
    const handlers = [() => new Promise<HttpResponse>(() => undefined), async () => ok(endless())];
    await expect(
      handlerTransport(async () => ok(new Uint8Array())).send(request(AbortSignal.abort(reason))),
    ).rejects.toBe(reason);
    for (const handler of handlers) {
      const aborter = new AbortController();
      let serverReason: unknown;
      const transport = handlerTransport((received) => {
        received.signal.addEventListener('abort', () => {
          serverReason = received.signal.reason;
        });
        return handler();
      });
      const exchange = async (): Promise<void> => {
        const { body } = await transport.send(request(aborter.signal));
        for await (const _ of body);
      };
      const failed = exchange().catch((error: unknown) => error);
      await new Promise((resolve) => setImmediate(resolve));
      aborter.abort(reason);
      expect(await failed).toBe(reason);
      expect(serverReason).toBe(reason);
    }
  });

  it('tells the handler when the client stops reading', async () => {
    let isServerTold = false;
    const transport = handlerTransport(async ({ signal }) => {
      signal.addEventListener('abort', () => {
        isServerTold = true;
      });
      return ok(endless());
    });
    const { body } = await transport.send(request());
    for await (const _ of body) break;
    expect(isServerTold).toBe(true);
  });

  it('does not abort an exchange that was read to its end', async () => {
    const aborter = new AbortController();
    let isServerTold = false;
    const transport = handlerTransport(async ({ signal }) => {
      signal.addEventListener('abort', () => {
        isServerTold = true;
      });
      return ok(
        (async function* () {
          yield new Uint8Array([1]);
          yield new Uint8Array([2]);
        })(),
      );
    });
    const { body } = await transport.send(request(aborter.signal));
    const received: number[] = [];
    for await (const chunk of body as AsyncIterable<Uint8Array>) received.push(...chunk);
    aborter.abort();
    expect([received, isServerTold]).toEqual([[1, 2], false]);
  });

  it('shows a failing handler and a failing body as a broken connection', async () => {
    const fault = new Error('boom');
    const thrown = handlerTransport(() => Promise.reject(fault)).send(request());
    await expect(thrown).rejects.toMatchObject({ name: 'TransportError', cause: fault });
    const { body } = await handlerTransport(async () =>
      ok(
        (async function* (): AsyncGenerator<Uint8Array> {
          yield new Uint8Array([1]);
          throw fault;
        })(),
      ),
    ).send(request());
    const read = async (): Promise<void> => {
      for await (const _ of body);
    };
    await expect(read()).rejects.toBeInstanceOf(TransportError);
  });
});
