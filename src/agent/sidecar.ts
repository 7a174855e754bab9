/**
 * The agent as a sidecar: its startup probe is the barrier, since a kubelet starts the regular
 * containers only after the probe has succeeded. The server listens from the start and answers 503
 * until the barrier lifts, so that an address that cannot be used is found at once and the events of
 * the Pod say what it waits for.
 */
import { BARRIER_PATH } from '../jobset/names.ts';
import type { HttpHandler, HttpResponse } from '../runtime/ports/transport.ts';
import type { Body } from './agent.ts';

export interface Sidecar extends Body {
  readonly handler: HttpHandler;
}

export function createSidecar(): Sidecar {
  let epoch: number | undefined;
  return {
    mode: 'Sidecar',
    lift: (lifted) => {
      epoch = lifted;
    },
    // The barrier asks a sidecar to leave instead.
    stopWorker: () => undefined,
    handler: ({ method, path }) => Promise.resolve(answer(method, path, epoch)),
  };
}

function answer(method: string, path: string, epoch: number | undefined): HttpResponse {
  const [pathname] = path.split('?');
  if (pathname !== BARRIER_PATH) return text(404, `only ${BARRIER_PATH} is served here\n`);
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'only GET is allowed\n');
  return epoch === undefined
    ? text(503, 'waiting for the group\n')
    : text(200, `epoch ${epoch} has begun\n`);
}

function text(status: number, body: string): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: new TextEncoder().encode(body),
  };
}
