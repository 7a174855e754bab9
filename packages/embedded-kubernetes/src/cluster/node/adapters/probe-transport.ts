/** Probes over the network of this machine: HTTP, HTTPS and TCP; gRPC is in `grpc-health.ts`. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect as connectTcp } from 'node:net';
import {
  MAX_PROBE_REDIRECTS,
  type ProbeAnswer,
  type ProbeRequest,
  type ProbeTransport,
} from '../ports/probe-transport.ts';
import { checkHealth } from './grpc-health.ts';

/** Each probe has its own connection. */
export function createProbeTransport(): ProbeTransport {
  return { get, connect, health: checkHealth };
}

async function get(request: ProbeRequest): Promise<ProbeAnswer> {
  const scheme = request.scheme.toLowerCase();
  let url = new URL(`${scheme}://${request.host}:${request.port}`);
  url = new URL(request.path.startsWith('/') ? request.path : `/${request.path}`, url);
  for (let redirects = 0; ; redirects++) {
    const { status, location } = await exchange(url, request);
    if (status < 300 || status >= 400 || location === undefined) {
      return { status, redirectedTo: undefined };
    }
    const target = new URL(location, url);
    if (target.hostname !== url.hostname || redirects >= MAX_PROBE_REDIRECTS) {
      return { status, redirectedTo: target.href };
    }
    url = target;
  }
}

function exchange(
  url: URL,
  { headers, timeoutMs }: ProbeRequest,
): Promise<{ readonly status: number; readonly location: string | undefined }> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const options = { headers, agent: false, rejectUnauthorized: false };
    const outgoing = send(url, options, (answer) => {
      clearTimeout(timer);
      // Only the head matters; the connection ends here.
      resolve({ status: answer.statusCode ?? 0, location: answer.headers.location });
      outgoing.destroy();
    });
    const timer = setTimeout(() => outgoing.destroy(new Error(timedOut(timeoutMs))), timeoutMs);
    outgoing.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    outgoing.end();
  });
}

function connect(host: string, port: number, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host, port });
    const timer = setTimeout(() => socket.destroy(new Error(timedOut(timeoutMs))), timeoutMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.destroy();
      resolve();
    });
    socket.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

function timedOut(timeoutMs: number): string {
  return `context deadline exceeded: no answer within ${timeoutMs} ms`;
}
