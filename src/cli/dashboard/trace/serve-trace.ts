/** Serves the page for a trace. It holds no connection to any cluster. */
import { basename } from 'node:path';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import packageJson from '../../../../package.json' with { type: 'json' };
import type { ClusterView } from '../../../dashboard/messages/paths.ts';
import type { TraceView } from '../../../dashboard/messages/trace.ts';
import { passingAccessKey } from '../http/access-key.ts';
import { jsonAnswer, refusal } from '../http/answers.ts';
import {
  type Asked,
  type Content,
  type Dashboard,
  type SessionRequest,
  type SiteOptions,
  startSite,
} from '../server.ts';
import type { Trace } from './parse-trace.ts';
import { runAt } from './played-run.ts';

export interface TraceOptions extends Omit<SiteOptions, 'accessKey' | 'clock'> {
  readonly trace: Trace;
  /** The path of its file, as the user gave it. */
  readonly path: string;
}

/** Rejects with the system's error when it cannot listen. */
export async function serveTrace({ trace, path, ...options }: TraceOptions): Promise<Dashboard> {
  const site = { ...options, accessKey: passingAccessKey(), clock: nodeClock };
  return startSite(site, new TraceContent(trace, path));
}

class TraceContent implements Content {
  readonly shows = 'trace';
  readonly #trace: Trace;
  readonly #path: string;

  constructor(trace: Trace, path: string) {
    this.#trace = trace;
    this.#path = path;
  }

  answer({ kind, query }: Asked, request: SessionRequest): Promise<HttpResponse> {
    return Promise.resolve(this.#answer(kind, query, request));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #answer(kind: Asked['kind'], query: URLSearchParams, request: SessionRequest): HttpResponse {
    const { head, events } = this.#trace;
    switch (kind) {
      case 'Trace': {
        const told = events.map(({ kind: of, atMs, text }) => ({ kind: of, atMs, text }));
        return jsonAnswer(200, { seed: head.seed, events: told } satisfies TraceView);
      }
      case 'TraceState': {
        const text = query.get('event') ?? '';
        const messages = /^\d{1,9}$/.test(text) ? runAt(this.#trace, Number(text)) : undefined;
        if (messages !== undefined) return jsonAnswer(200, messages);
        const expected = `expected a whole number from 0 to ${events.length - 1}`;
        return refusal(request, 400, `event is no event of the trace, ${expected}.`);
      }
      case 'Cluster':
        return jsonAnswer(200, {
          context: 'Trace',
          server: basename(this.#path),
          serverVersion: null,
          version: packageJson.version,
        } satisfies ClusterView);
      case 'Action':
      case 'Log':
      case 'Overview':
      case 'Run':
        return refusal(request, 404, 'This dashboard plays a trace, and reaches no cluster.');
    }
  }
}
