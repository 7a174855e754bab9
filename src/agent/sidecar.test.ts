import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../runtime/ports/transport.ts';
import { createSidecar } from './sidecar.ts';

function request(path: string, method: HttpRequest['method'] = 'GET'): HttpRequest {
  return { method, path, headers: {}, signal: new AbortController().signal };
}

describe('the barrier of a sidecar', () => {
  it('holds the startup probe until it is lifted, and for good after that', async () => {
    const sidecar = createSidecar();
    expect((await sidecar.handler(request('/barrier-is-lifted'))).status).toBe(503);
    sidecar.lift(1, () => undefined);
    expect((await sidecar.handler(request('/barrier-is-lifted'))).status).toBe(200);
    expect((await sidecar.handler(request('/barrier-is-lifted?x=1', 'HEAD'))).status).toBe(200);
  });

  it('answers nothing else', async () => {
    const sidecar = createSidecar();
    sidecar.lift(1, () => undefined);
    expect((await sidecar.handler(request('/'))).status).toBe(404);
    expect((await sidecar.handler(request('/barrier-is-lifted', 'POST'))).status).toBe(405);
  });
});
