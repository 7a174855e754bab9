import { expect, test } from 'vitest';
import { healthHandler } from './health.ts';

const handler = healthHandler({
  live: [{ name: 'loop', problem: () => undefined }],
  ready: [{ name: 'informer-sync', problem: () => 'pods not listed yet' }],
});

async function get(path: string): Promise<readonly [number, string]> {
  const { signal } = new AbortController();
  const answer = await handler({ method: 'GET', path, headers: {}, signal });
  const body = answer.body instanceof Uint8Array ? Buffer.from(answer.body).toString() : '';
  return [answer.status, body];
}

test.each([
  ['/livez', 200, 'ok'],
  ['/healthz', 200, 'ok'],
  ['/livez?verbose', 200, '[+]ping ok\n[+]loop ok\nlivez check passed\n'],
  [
    '/readyz',
    500,
    '[+]ping ok\n[+]loop ok\n[-]informer-sync failed: pods not listed yet\nreadyz check failed\n',
  ],
  ['/readyz?exclude=informer-sync', 200, 'ok'],
  [
    '/readyz/informer-sync',
    500,
    '[-]informer-sync failed: pods not listed yet\nreadyz check failed\n',
  ],
  ['/readyz/loop', 200, 'ok'],
  ['/readyz/unknown', 404, '404 page not found\n'],
  ['/other', 404, '404 page not found\n'],
  ['/livez/loop/deeper', 404, '404 page not found\n'],
])('%s answers %i', async (path, status, body) => {
  expect(await get(path)).toEqual([status, body]);
});
