/**
 * `/exec`, `/attach` and `/portForward` of the node's server, to which the API server connects
 * clients of `pods/exec`, `pods/attach` and `pods/portforward`. Refusals are plain texts with a
 * kubelet's words. The number of sessions, their messages and their silence are bounded.
 */
import type {
  HttpHandler,
  HttpRequest,
  HttpResponse,
} from '@lockstep/kube/runtime/ports/transport.ts';
import type { RunningContainer } from '../container/running-container.ts';
import type { PodWorker } from '../pod/pod-worker.ts';
import { allContainersOf } from '../pod-containers.ts';
import type { NodeContext } from '../ports/node-context.ts';
import { podDirectory } from '../ports/node-context.ts';
import { attach } from './attach.ts';
import { exec } from './exec.ts';
import { PortForwarder } from './port-forward.ts';
import { streamOptions } from './remote-streams.ts';
import { openCommandStreams, openPortStreams } from './stream-upgrade.ts';

export interface StreamingOptions {
  readonly context: NodeContext;
  /** The present or last Pod of this name. */
  readonly find: (namespace: string, name: string) => PodWorker | undefined;
}

/** Each is a connection, and most are a process; a person has a handful. */
const MAX_SESSIONS = 256;

/** The answer to the request, and what continues after it; or why there is none. */
type Session =
  | { readonly response: HttpResponse; readonly run: () => Promise<void> }
  | { readonly status: 400 | 404; readonly refusal: string };

export function isStreaming({ path }: HttpRequest): boolean {
  return /^\/(exec|attach|portForward)\//.test(path);
}

export function streamingHandler({ context, find }: StreamingOptions): HttpHandler {
  let sessions = 0;
  return async (request) => {
    const url = URL.canParse(request.path, 'http://node')
      ? new URL(request.path, 'http://node')
      : undefined;
    // Names of Pods and containers need no escapes.
    const [, what, namespace = '', name = '', container = ''] = url?.pathname.split('/') ?? [];
    const worker = find(namespace, name);
    if (worker === undefined || url === undefined) return refusal(404, 'pod does not exist');
    if (sessions >= MAX_SESSIONS) {
      return refusal(429, `this node serves ${MAX_SESSIONS} sessions already`);
    }
    const session =
      what === 'portForward'
        ? portSession(context, worker, request)
        : commandSession(context, worker, { container, what, query: url.searchParams }, request);
    if ('refusal' in session) return refusal(session.status, session.refusal);
    sessions++;
    session
      .run()
      .catch((error: unknown) => context.logger.error('a session failed', { err: error }))
      .finally(() => {
        sessions--;
      });
    return session.response;
  };
}

function portSession(context: NodeContext, worker: PodWorker, request: HttpRequest): Session {
  const { podIP, sandbox } = worker;
  const { ports } = sandbox;
  const { streaming, clock } = context;
  if (podIP === undefined || worker.hasFinished) {
    return { status: 404, refusal: 'the pod does not run' };
  }
  const { namespace, name } = worker.pod.metadata;
  const target = { pod: `${namespace}_${name}`, podIP, ports };
  const forwarder = new PortForwarder(clock, streaming.dial, target);
  const opened = openPortStreams(context, request, (stream) => forwarder.add(stream));
  if (typeof opened === 'string') return { status: 400, refusal: opened };
  return {
    response: opened.response,
    run: () => opened.session.run().finally(() => forwarder.end()),
  };
}

interface CommandRequest {
  readonly container: string;
  readonly what: string | undefined;
  readonly query: URLSearchParams;
}

function commandSession(
  context: NodeContext,
  worker: PodWorker,
  { container: name, what, query }: CommandRequest,
  request: HttpRequest,
): Session {
  const known = allContainersOf(worker.pod.spec).find(({ container }) => container.name === name);
  const running = worker.containers.running(name);
  if (known === undefined || running === undefined) {
    return { status: 404, refusal: `container not found ("${name}")` };
  }
  const options = streamOptions(query);
  if (typeof options === 'string') return { status: 400, refusal: options };
  const [program, ...rest] = query.getAll('command');
  if (what === 'exec' && program === undefined) {
    return { status: 400, refusal: 'you must specify a command' };
  }
  const opened = openCommandStreams(context, request, options);
  if (typeof opened === 'string') return { status: 400, refusal: opened };
  const { signal } = request;
  const run = async (): Promise<void> => {
    const streams = await opened.streams;
    if (streams === undefined) return;
    if (what !== 'exec' || program === undefined) {
      const closesStdin = known.container.stdinOnce === true && options.input;
      await attach(context, running.main, streams, { closesStdin, signal });
      return;
    }
    const command = [program, ...rest] as const;
    const place = placeOf(context, worker, name, running);
    await exec(context, { command, options, ...place, signal }, streams);
  };
  return { response: opened.response, run };
}

function placeOf(
  context: NodeContext,
  worker: PodWorker,
  name: string,
  { main: { launch } }: RunningContainer,
) {
  const temporaryDirectory = `${podDirectory(context, worker.uid)}/containers/${name}/tmp`;
  return { launch, temporaryDirectory };
}

function refusal(status: number, message: string): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: Buffer.from(`${message}\n`),
  };
}
