import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';
import type { HttpRequest } from './ports/transport.ts';

const { signal } = new AbortController();

function request(method: HttpRequest['method'], path: string): HttpRequest {
  return { method, path, headers: {}, signal };
}

test('families are shared by name and served in the text format', async () => {
  const metrics = createMetrics();
  const of = { name: 'things_total', help: 'Things', labels: ['kind'] } as const;
  metrics.counter(of).add({ kind: 'a' });
  metrics.counter(of).add({ kind: 'b' }, 2);
  metrics.gauge({ name: 'size', help: 'Size' }).set({}, 7);
  metrics.histogram({ name: 'time_seconds', help: 'Time', buckets: [1, 2] }).observe({}, 1.5);
  const answer = await metrics.handler(request('GET', '/metrics?x=1'));
  const page = answer.body instanceof Uint8Array ? Buffer.from(answer.body).toString() : '';
  expect(answer.headers['content-type']).toContain('text/plain');
  for (const line of [
    '# TYPE things_total counter',
    'things_total{kind="a"} 1',
    'things_total{kind="b"} 2',
    'size 7',
    'time_seconds_bucket{le="1"} 0',
    'time_seconds_bucket{le="2"} 1',
    'time_seconds_count 1',
  ]) {
    expect(page).toContain(`${line}\n`);
  }
});

test('one name cannot be two kinds of metric', () => {
  const metrics = createMetrics();
  metrics.counter({ name: 'x', help: 'X' });
  expect(() => metrics.gauge({ name: 'x', help: 'X' })).toThrow('registered with another type');
});

test.each([
  ['GET', '/other', 404],
  ['POST', '/metrics', 405],
  ['HEAD', '/metrics', 200],
] as const)('%s %s answers %i', async (method, path, status) => {
  expect((await createMetrics().handler(request(method, path))).status).toBe(status);
});
