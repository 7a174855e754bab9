/**
 * One question of the gRPC health protocol (`grpc.health.v1.Health/Check`) over HTTP/2 without TLS,
 * each on its own connection, as a kubelet asks it.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { readFields } from '../../../api-machinery/protobuf/wire.ts';
import {
  type HealthQuestion,
  PROBE_USER_AGENT,
  SERVING_STATUSES,
  type ServingStatus,
} from '../ports/probe-transport.ts';

const PATH = '/grpc.health.v1.Health/Check';
/** The answer is one number; a server that sends more does not speak this protocol. */
const MAX_ANSWER_BYTES = 1024;
/** A message begins with a flag (compressed or not) and its length. */
const PREFIX_BYTES = 5;
/** Field 1 of both messages: a text in the question, a number in the answer. */
const SERVICE_TAG = 0x0a;
const STATUS_FIELD = 1;
const UNIMPLEMENTED = '12';

/** Rejects with a text for the Event of the probe. */
export function checkHealth(question: HealthQuestion): Promise<ServingStatus> {
  const { host, port, timeoutMs } = question;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const session = connect(`http://${address}`);
    let isConnected = false;
    const timer = setTimeout(() => {
      const what = isConnected ? 'health rpc did not complete' : `failed to connect to ${address}`;
      end(new Error(`timeout: ${what} within ${timeoutMs} ms`));
    }, timeoutMs);
    const end = (outcome: ServingStatus | Error): void => {
      clearTimeout(timer);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
      session.destroy();
    };
    session.once('connect', () => {
      isConnected = true;
      ask(session, address, question.service, end);
    });
    session.on('close', () => end(new Error('error: the connection was closed')));
    session.on('error', (error) => {
      const what = isConnected ? 'health rpc failed' : `failed to connect to ${address}`;
      end(new Error(`error: ${what}: ${error.message}`, { cause: error }));
    });
  });
}

function ask(
  session: ClientHttp2Session,
  authority: string,
  service: string,
  end: (outcome: ServingStatus | Error) => void,
): void {
  const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, HTTP2_HEADER_AUTHORITY } = constants;
  const stream = session.request({
    [HTTP2_HEADER_METHOD]: 'POST',
    [HTTP2_HEADER_PATH]: PATH,
    [HTTP2_HEADER_AUTHORITY]: authority,
    'content-type': 'application/grpc',
    'user-agent': PROBE_USER_AGENT,
    te: 'trailers',
  });
  let head: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  let body = Buffer.alloc(0);
  stream.on('response', (headers) => {
    head = headers;
  });
  stream.on('trailers', (headers) => {
    trailers = headers;
  });
  stream.on('data', (chunk: Buffer) => {
    body = Buffer.concat([body, chunk]);
    if (body.length > MAX_ANSWER_BYTES) end(new Error('error: the answer is too long'));
  });
  stream.on('error', (error) => end(new Error(`error: health rpc failed: ${error.message}`)));
  stream.on('end', () => end(outcomeOf({ ...head, ...trailers }, body)));
  sendQuestion(stream, service);
}

function sendQuestion(stream: ClientHttp2Stream, service: string): void {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([textField(name.length), name]);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([prefix, message]));
}

/** The head of the service's name: its tag, and its length as a varint. */
function textField(length: number): Buffer {
  const bytes = [SERVICE_TAG];
  let rest = length;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function outcomeOf(headers: IncomingHttpHeaders, body: Buffer): ServingStatus | Error {
  const status = headers[':status'];
  const code = headers['grpc-status'];
  const message = `${headers['grpc-message'] ?? ''}`;
  if (code === UNIMPLEMENTED) {
    return new Error(
      `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`,
    );
  }
  if (code === undefined) return new Error(`error: no answer of gRPC (HTTP status ${status})`);
  if (code !== '0') return new Error(`error: health rpc failed with code ${code}: ${message}`);
  return servingStatus(body);
}

function servingStatus(body: Buffer): ServingStatus | Error {
  try {
    let status = 0;
    for (const { number, value } of readFields(body.subarray(PREFIX_BYTES))) {
      if (number === STATUS_FIELD && typeof value === 'bigint') status = Number(value);
    }
    return SERVING_STATUSES[status] ?? new Error(`error: unknown health status ${status}`);
  } catch (error) {
    return new Error('error: the answer is no message of the health protocol', { cause: error });
  }
}
