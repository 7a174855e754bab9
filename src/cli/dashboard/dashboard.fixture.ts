/** A dashboard on an API server without nodes, and a page that follows it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMINISTRATORS } from '@lockstep/embedded-kubernetes';
import { createApiServer, MemoryStorage } from '@lockstep/embedded-kubernetes/in-memory';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { groupResourceOf } from '@lockstep/kube/resource.ts';
import {
  type ClientConnection,
  connectClient,
} from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { type HttpServer, startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { refusalResponse } from '@lockstep/kube/runtime/client/refusal-response.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpHandler, HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import { failure } from '@lockstep/kube/status.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import { startDashboard } from './cluster-content.ts';
import { type AccessKey, passingAccessKey } from './http/access-key.ts';
import type { Scope } from './overview/overview-source.ts';
import type { Dashboard } from './server.ts';

const RUNTIME = { clock: nodeClock, random: systemRandom } as const;
/** What a client certificate would prove. */
const ADMINISTRATOR = {
  address: '127.0.0.1',
  certificate: { commonName: 'test', organizations: [ADMINISTRATORS] },
};
const LOOPBACK = '127.0.0.1';
const TIMEOUT_MS = 30_000;

/** An API server whose answers a test can take away. */
export interface TestCluster {
  readonly connection: ClientConnection;
  readonly url: string;
  /** Requests for which it returns true are forbidden. */
  forbid: (request: HttpRequest) => boolean;
  /** Answers instead of the API server. */
  instead: (request: HttpRequest) => ReturnType<HttpHandler> | undefined;
  installJobSets(): Promise<void>;
  /** Closes its port; what it stores stays. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestCluster(): Promise<TestCluster> {
  const api = createApiServer({ ...RUNTIME, logger: SILENT, storage: new MemoryStorage() });
  await api.start();
  const handler: HttpHandler = async (request) => {
    const instead = cluster.instead(request);
    if (instead !== undefined) return instead;
    if (!cluster.forbid(request)) return api.handler({ ...request, peer: ADMINISTRATOR });
    return refusalResponse(failure('Forbidden', 'User "test" cannot do this'));
  };
  const listen = async (port: number): Promise<HttpServer> =>
    startHttpServer({ handler, host: LOOPBACK, port });
  let http = await listen(0);
  const { port, url } = http;
  const access = { server: url, tls: {}, namespace: 'default' };
  const connection = connectClient(access, { ...RUNTIME, userAgent: 'test' });
  const cluster: TestCluster = {
    connection,
    url,
    forbid: () => false,
    instead: () => undefined,
    installJobSets: async () => {
      await connection.client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
      await waitFor(
        connection.client,
        CUSTOM_RESOURCE_DEFINITIONS,
        { name: groupResourceOf(JOBSETS) },
        (crd) =>
          crd?.status?.conditions?.some(
            ({ type, status }) => type === 'Established' && status === 'True',
          ) === true,
        { ...RUNTIME, timeoutMs: TIMEOUT_MS },
      );
    },
    pause: async () => http.close(),
    resume: async () => {
      http = await listen(port);
    },
    stop: async () => {
      connection.close();
      await http.close();
      await api.close();
    },
  };
  return cluster;
}

export interface TestPage {
  readonly dashboard: Dashboard;
  readonly accessKey: AccessKey;
  /** As the browser sends it. */
  readonly cookie: string;
  /** With the cookie of a session. */
  fetch(path: string, options?: RequestInit): Promise<Response>;
  /** Follows a stream until the condition holds for the state that its messages build up. */
  follow<State, Message>(
    path: string,
    empty: State,
    step: (state: State, message: Message) => State,
  ): Followed<State>;
  post(body: unknown): Promise<{ readonly problem: string | null }>;
  stop(): Promise<void>;
}

export interface Followed<State> {
  until(condition: (state: State) => boolean): Promise<State>;
  /** Resolves when the server ends the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

export async function openTestPage(
  cluster: Pick<TestCluster, 'connection' | 'url'>,
  scope: Scope = { namespace: undefined, fallback: 'default' },
  port = 0,
  accessKey = passingAccessKey(),
): Promise<TestPage> {
  const pageDirectory = mkdtempSync(join(tmpdir(), 'lockstep-page-'));
  const dashboard = await startDashboard({
    ...RUNTIME,
    connection: cluster.connection,
    clusterFlags: ['--context', 'test'],
    cluster: { context: 'test', server: cluster.url, serverVersion: '1', version: '1' },
    scope,
    accessKey,
    port,
    pageDirectory,
  });
  const origin = `http://${LOOPBACK}:${dashboard.port}`;
  const logIn = async (): Promise<Response> => fetch(dashboard.address, { redirect: 'manual' });
  // A connection to the server that was on this port before is dead.
  const { headers: answered } = await logIn().catch(logIn);
  const [cookie = ''] = (answered.get('set-cookie') ?? '').split(';');
  const open: { close(): void }[] = [];
  const request = async (path: string, options: RequestInit = {}): Promise<Response> =>
    fetch(origin + path, {
      redirect: 'manual',
      ...options,
      headers: { cookie, ...(options.headers as Record<string, string> | undefined) },
    });
  return {
    dashboard,
    accessKey,
    cookie,
    fetch: request,
    follow: (path, empty, step) => {
      const followed = followStream(request, path, empty, step);
      open.push(followed);
      return followed;
    },
    post: async (body) => {
      const headers = { origin, 'content-type': 'application/json' };
      const response = await request('/api/action', {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await response.json()) as { readonly problem: string | null };
    },
    stop: async () => {
      for (const each of open) each.close();
      await dashboard.close();
      rmSync(pageDirectory, { recursive: true });
    },
  };
}

function followStream<State, Message>(
  request: TestPage['fetch'],
  path: string,
  empty: State,
  step: (state: State, message: Message) => State,
): Followed<State> {
  const closing = new AbortController();
  let state = empty;
  const waiting = new Set<() => void>();
  const read = async (): Promise<void> => {
    const { status, body } = await request(path, { signal: closing.signal });
    if (status !== 200 || body === null) throw new Error(`${path} answered ${status}`);
    let rest = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        if (!event.startsWith('data: ')) continue;
        state = step(state, JSON.parse(event.slice('data: '.length)) as Message);
        for (const check of waiting) check();
      }
    }
  };
  const ended = read();
  ended.catch(() => undefined);
  return {
    ended,
    close: () => closing.abort(),
    until: async (condition) => {
      const met = new Promise<void>((resolve) => {
        const check = (): void => {
          if (condition(state)) resolve();
        };
        waiting.add(check);
        check();
      });
      const timeUp = sleep(nodeClock, TIMEOUT_MS, closing.signal).then(() => {
        throw new Error(`not met: ${JSON.stringify(state).slice(0, 2000)}`);
      });
      timeUp.catch(() => undefined);
      await Promise.race([met, timeUp]);
      return state;
    },
  };
}
