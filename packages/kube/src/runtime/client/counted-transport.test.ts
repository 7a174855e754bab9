import { describe, expect, test } from 'vitest';
import { createMetrics } from '../metrics.ts';
import { type HttpRequest, type HttpResponse, TransportError } from '../ports/transport.ts';
import { countedTransport, transportMetrics } from './counted-transport.ts';
import { wholeBody } from './response-body.ts';

const SIGNAL = new AbortController().signal;

function request(method: HttpRequest['method'], path: string): HttpRequest {
  return { method, path, headers: {}, signal: SIGNAL };
}

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array, void> {
  for (const text of texts) yield Buffer.from(text);
}

describe('a counted transport', () => {
  test('counts tries by outcome, and bytes of whole and of streamed bodies', async () => {
    const answers: Record<string, () => HttpResponse> = {
      '/whole': () => ({ status: 200, headers: {}, body: Buffer.from('12345') }),
      '/watch': () => ({ status: 200, headers: {}, body: chunks('123', '4567') }),
      '/busy': () => ({ status: 429, headers: {}, body: Buffer.from('') }),
    };
    const metrics = createMetrics();
    const transport = countedTransport(
      {
        send: async ({ path }) => {
          const answer = answers[path];
          if (answer === undefined) throw new TransportError('refused', { code: 'ECONNREFUSED' });
          return answer();
        },
      },
      transportMetrics(metrics),
    );
    const read = async (path: string): Promise<string> =>
      (await wholeBody((await transport.send(request('GET', path))).body)).toString();

    expect(await read('/whole')).toBe('12345');
    expect(await read('/watch')).toBe('1234567');
    await transport.send(request('PATCH', '/busy'));
    await expect(transport.send(request('GET', '/gone'))).rejects.toThrow('refused');

    const page = await metrics.handler(request('GET', '/metrics'));
    const text = (await wholeBody(page.body)).toString();
    expect(text).toContain('rest_client_requests_total{method="GET",code="200"} 2');
    expect(text).toContain('rest_client_requests_total{method="PATCH",code="429"} 1');
    expect(text).toContain('rest_client_requests_total{method="GET",code="<error>"} 1');
    expect(text).toContain('lockstep_api_received_bytes_total 12');
  });

  test('ends the body of a reader that ends early', async () => {
    let isOver = false;
    async function* endless(): AsyncGenerator<Uint8Array, void> {
      try {
        for (;;) yield Buffer.from('x');
      } finally {
        isOver = true;
      }
    }
    const counts = { answered: () => undefined, received: () => undefined };
    const transport = countedTransport(
      { send: async () => ({ status: 200, headers: {}, body: endless() }) },
      counts,
    );
    const { body } = await transport.send(request('GET', '/'));
    if (body instanceof Uint8Array) throw new Error('expected a stream');
    for await (const _chunk of body) break;
    expect(isOver).toBe(true);
  });
});
