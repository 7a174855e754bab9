import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkHealth } from './grpc-health.ts';

const HOST = '127.0.0.1';
let server: Http2Server;
let port: number;
/** The received questions: paths, and the names of the services. */
let asked: string[];
let answer: (stream: ServerHttp2Stream, service: string) => void;

beforeEach(async () => {
  asked = [];
  server = createServer();
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', () => undefined);
    stream.on('end', () => {
      // Five bytes of a prefix; then, unless it is empty, the tag and the length of the name.
      const service = Buffer.concat(chunks).subarray(7).toString();
      asked.push(`${headers[':method']} ${headers[':path']} ${service}`);
      answer(stream, service);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});

afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
});

function check(service = '', timeoutMs = 5_000) {
  return checkHealth({ host: HOST, port, service, timeoutMs });
}

/** Answers with this message, as a gRPC server does. */
function says(message: readonly number[], code = '0', text = '') {
  return (stream: ServerHttp2Stream): void => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ 'grpc-status': code, 'grpc-message': text });
    });
    stream.end(Buffer.from([0, 0, 0, 0, message.length, ...message]));
  };
}

describe('a question of the health protocol', () => {
  it.each([
    [[], 'UNKNOWN'],
    [[8, 1], 'SERVING'],
    [[8, 2], 'NOT_SERVING'],
    [[8, 3], 'SERVICE_UNKNOWN'],
  ])('that is answered with the bytes %j hears %s', async (message, status) => {
    answer = says(message);
    expect(await check('a.b.Api')).toBe(status);
    expect(asked).toEqual(['POST /grpc.health.v1.Health/Check a.b.Api']);
  });

  it('about no service is about the whole server', async () => {
    answer = says([8, 1]);
    await check();
    expect(asked).toEqual(['POST /grpc.health.v1.Health/Check ']);
  });

  it.each<[name: string, answer: (stream: ServerHttp2Stream) => void, text: string]>([
    [
      'a server without the protocol',
      (stream) =>
        stream.respond(
          { ':status': 200, 'grpc-status': '12', 'grpc-message': 'unknown service' },
          { endStream: true },
        ),
      'this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service',
    ],
    ['another failure', says([], '13', 'broken'), 'health rpc failed with code 13: broken'],
    [
      'a server of something else',
      (stream) => stream.respond({ ':status': 404 }, { endStream: true }),
      'no answer of gRPC (HTTP status 404)',
    ],
    ['an unknown status', says([8, 9]), 'unknown health status 9'],
    ['no message', says([7, 7, 7]), 'the answer is no message of the health protocol'],
    [
      'more than an answer',
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.write(Buffer.alloc(10_000));
      },
      'the answer is too long',
    ],
  ])('is not answered by %s', async (_, reply, text) => {
    answer = reply;
    await expect(check()).rejects.toThrow(`error: ${text}`);
  });

  it('gives up in time', async () => {
    answer = () => undefined;
    await expect(check('', 100)).rejects.toThrow(
      'timeout: health rpc did not complete within 100 ms',
    );
  });

  it('does not wait for a server that hangs up', async () => {
    answer = (stream) => stream.session?.destroy();
    await expect(check()).rejects.toThrow(/^error: /);
  });

  it('is refused where nothing listens', async () => {
    const question = { host: HOST, port: 1, service: '', timeoutMs: 5_000 };
    await expect(checkHealth(question)).rejects.toThrow(
      'error: failed to connect to 127.0.0.1:1: connect ECONNREFUSED',
    );
  });
});
