/**
 * One attack on the operator, in a process of its own, which the benchmark starts and ends. It
 * connects only to loopback, and ends by itself after some time.
 */
import { readFileSync } from 'node:fs';
import tls from 'node:tls';

/** The first message from the benchmark; the second, `stop`, is answered with `AttackReport`. */
export type Attack =
  /** Requests for the members of a group, pipelined without waiting for answers. */
  | {
      readonly type: 'pages';
      readonly port: number;
      readonly token: string;
      readonly perSecond: number;
    }
  /** Connections that send a request's head and most of its body, and then stop. */
  | {
      readonly type: 'bodies';
      readonly port: number;
      readonly count: number;
      readonly bytes: number;
    }
  /** Whole reviews from files, a number of them at a time, over and over. */
  | {
      readonly type: 'reviews';
      readonly port: number;
      readonly files: readonly string[];
      readonly atATime: number;
    }
  /** Connections that complete the handshake and send nothing. */
  | { readonly type: 'idle'; readonly port: number; readonly count: number };

export interface AttackReport {
  /** How many requests, or connections if there are no requests, were begun. */
  readonly begun: number;
  /** How many TLS handshakes were completed. */
  readonly connections: number;
  /** Answers by status. */
  readonly answers: Readonly<Record<string, number>>;
}

const LOOPBACK = '127.0.0.1';
const MAX_DURATION_MS = 180_000;
const TICK_MS = 10;
/** Connections that begin at the same time would only wait for each other. */
const CONNECTION_INTERVAL_MS = 1;
/** The time between two connections in one place, if the first was ended. */
const RECONNECT_MS = 500;

let begun = 0;
let connections = 0;
const answers: Record<string, number> = {};
let session: Buffer | undefined;

process.on('disconnect', () => process.exit());
process.on('message', (message: Attack | 'stop') => {
  if (message === 'stop') process.send?.({ begun, connections, answers } satisfies AttackReport);
  else begin(message);
});
setTimeout(() => process.exit(), MAX_DURATION_MS);

function begin(attack: Attack): void {
  switch (attack.type) {
    case 'pages':
      pipeline(attack);
      break;
    case 'bodies':
      for (let i = 0; i < attack.count; i++) holdBody(attack.port, attack.bytes);
      break;
    case 'reviews': {
      const bodies = attack.files.map((file) => readFileSync(file));
      for (let i = 0; i < attack.atATime; i++) sendReviews(attack.port, bodies, i);
      break;
    }
    case 'idle':
      for (let i = 0; i < attack.count; i++) {
        setTimeout(() => holdConnection(attack.port), i * CONNECTION_INTERVAL_MS);
      }
      break;
  }
}

function connect(port: number): tls.TLSSocket {
  const resumed = session === undefined ? {} : { session };
  const socket = tls.connect({ host: LOOPBACK, port, rejectUnauthorized: false, ...resumed });
  socket.on('session', (next) => {
    session = next;
  });
  socket.on('secureConnect', () => {
    connections++;
  });
  // An attacker that is cut off comes again.
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    for (const [, status = ''] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) {
      answers[status] = (answers[status] ?? 0) + 1;
    }
  });
  return socket;
}

function pipeline({ port, token, perSecond }: Extract<Attack, { readonly type: 'pages' }>): void {
  const request = `GET /hub/members HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const startedMs = performance.now();
  let socket = connect(port);
  setInterval(() => {
    if (socket.destroyed || socket.readableEnded) socket = connect(port);
    const due = Math.floor(((performance.now() - startedMs) * perSecond) / 1000) - begun;
    socket.write(request.repeat(due));
    begun += due;
  }, TICK_MS);
}

function holdBody(port: number, bytes: number): void {
  begun++;
  const socket = connect(port);
  socket.write(`${reviewHead(bytes)}`);
  socket.write(Buffer.alloc(bytes - 1, 0x20));
  socket.once('close', () => setTimeout(() => holdBody(port, bytes), RECONNECT_MS));
}

function holdConnection(port: number): void {
  begun++;
  const socket = connect(port);
  socket.once('close', () => setTimeout(() => holdConnection(port), RECONNECT_MS));
}

function sendReviews(port: number, bodies: readonly Buffer[], turn: number): void {
  begun++;
  const body = bodies[turn % bodies.length] ?? Buffer.alloc(0);
  const socket = connect(port);
  socket.write(reviewHead(body.byteLength));
  socket.write(body);
  socket.once('data', () => socket.end());
  socket.once('close', () => setTimeout(() => sendReviews(port, bodies, turn + 1), TICK_MS));
}

function reviewHead(bytes: number): string {
  return (
    'POST /validate-jobset-x-k8s-io-v1alpha2-jobset HTTP/1.1\r\nHost: webhook\r\n' +
    `Connection: close\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`
  );
}
