/**
 * `/exec`, `/attach` and `/portForward` of the node's server: what the API server connects a client of
 * `pods/exec`, `pods/attach` and `pods/portforward` with. Refusals are plain texts with a kubelet's
 * words; the number of sessions, their messages and their silence are bounded.
 */
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../runtime/ports/transport.ts';
import {
  acceptWebSocket,
  asksForWebSocket,
} from '../../../runtime/web-socket/server-connection.ts';
import { containersOf } from '../container-record.ts';
import type { NodeContext } from '../node-context.ts';
import { podDirectory } from '../node-context.ts';
import type { PodWorker } from '../pod-worker.ts';
import type { RunningContainer } from '../running-container.ts';
import { attach } from './attach.ts';
import { exec } from './exec.ts';
import { type RemoteStreams, type StreamOptions, streamOptions } from './remote-streams.ts';
import { CHANNEL_PROTOCOLS, webSocketStreams } from './web-socket-streams.ts';

export interface StreamingOptions {
  readonly context: NodeContext;
  /** The Pod that has this name now, or had it last. */
  readonly find: (namespace: string, name: string) => PodWorker | undefined;
}

/** As a kubelet's `streamingConnectionIdleTimeout`. */
const IDLE_TIMEOUT_MS = 4 * 3600 * 1000;
/** Clients send pieces of 32 KiB. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Each is a process and a connection; a person has a handful. */
const MAX_SESSIONS = 256;

export function isStreaming({ path }: HttpRequest): boolean {
  return /^\/(exec|attach|portForward)\//.test(path);
}

export function streamingHandler({ context, find }: StreamingOptions): HttpHandler {
  let sessions = 0;
  return async (request) => {
    const [path = '', query = ''] = request.path.split('?', 2);
    const [, what, namespace = '', name = '', container = ''] = path.split('/');
    const worker = find(decodeURIComponent(namespace), decodeURIComponent(name));
    if (worker === undefined) return refusal(404, 'pod does not exist');
    if (sessions >= MAX_SESSIONS) {
      return refusal(429, `this node serves ${MAX_SESSIONS} sessions already`);
    }
    const target = targetOf(worker, decodeURIComponent(container));
    if (typeof target === 'string') return refusal(404, target);
    const session = sessionOf(
      context,
      target,
      what === 'exec',
      new URLSearchParams(query),
      request,
    );
    if (typeof session === 'string') return refusal(400, session);
    sessions++;
    void session.run().finally(() => {
      sessions--;
    });
    return session.response;
  };
}

interface Target {
  readonly worker: PodWorker;
  readonly running: RunningContainer;
  readonly name: string;
}

function targetOf(worker: PodWorker, name: string): Target | string {
  const isKnown = containersOf(worker.pod.spec).some(({ container }) => container.name === name);
  const running = worker.containers.running(name);
  if (!isKnown || running === undefined) return `container not found ("${name}")`;
  return { worker, running, name };
}

interface Session {
  readonly response: HttpResponse;
  run(): Promise<void>;
}

/** The session, or why there can be none. */
function sessionOf(
  context: NodeContext,
  target: Target,
  isExec: boolean,
  query: URLSearchParams,
  request: HttpRequest,
): Session | string {
  const options = streamOptions(query);
  if (typeof options === 'string') return options;
  const [program, ...rest] = query.getAll('command');
  if (isExec && program === undefined) return 'you must specify a command';
  const opened = openStreams(context, request, options);
  if (typeof opened === 'string') return opened;
  const { response, streams } = opened;
  const { worker, running, name } = target;
  const { signal } = request;
  const run = async (): Promise<void> => {
    if (program === undefined || !isExec) {
      const spec = containersOf(worker.pod.spec).find(({ container }) => container.name === name);
      const closesStdin = spec?.container.stdinOnce === true && options.input;
      await attach(context, running.process, streams, { closesStdin, signal });
      return;
    }
    await exec(
      context,
      {
        command: [program, ...rest],
        options,
        launch: running.process.launch,
        temporaryDirectory: `${podDirectory(context, worker.uid)}/containers/${name}/tmp`,
        signal,
      },
      streams,
    );
  };
  return { response, run };
}

function openStreams(
  context: NodeContext,
  request: HttpRequest,
  options: StreamOptions,
): { readonly response: HttpResponse; readonly streams: RemoteStreams } | string {
  if (!asksForWebSocket(request)) {
    return 'this node streams over WebSockets only: use kubectl 1.31 or later';
  }
  const accepted = acceptWebSocket(request, CHANNEL_PROTOCOLS, {
    clock: context.clock,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  if (accepted === undefined) {
    return `no WebSocket protocol in common: this node speaks ${CHANNEL_PROTOCOLS.join(', ')}`;
  }
  const { response, connection } = accepted;
  return { response, streams: webSocketStreams(connection, options) };
}

function refusal(status: number, message: string): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: Buffer.from(`${message}\n`),
  };
}
