/** The node's end of `exec`, `attach` and `port-forward`, with a client in memory. */

import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { container } from '../test-api.fixture.ts';
import { TestNode } from '../test-node.fixture.ts';
import { openWebSocket } from './web-socket-client.fixture.ts';

const EXEC = '/exec/default/p/main?output=1&error=1&input=1&command=';

let node: TestNode;

afterEach(() => node.stop());

async function startNode(): Promise<void> {
  node = new TestNode({
    serves: () => undefined,
    listens: (self) => {
      self.onInput = () => self.write('stdout', `heard ${self.inputText}`);
    },
    says: (self) => {
      self.write('stdout', 'out');
      self.write('stderr', 'err');
      self.exit(3);
    },
    cat: (self) => {
      self.onInput = () => {
        if (!self.isInputEnded) return;
        self.write('stdout', self.inputText);
        self.exit(0);
      };
    },
    floods: (self) => {
      for (let i = 0; i < 6; i++) self.write('stdout', 'x'.repeat(1024 * 1024));
    },
  });
  await node.start();
  await node.run({
    containers: [container('main', 'serves'), container('reader', 'listens', { stdin: true })],
  });
  await node.until(({ status }) => status?.phase === 'Running');
}

describe('a request that cannot be served gets the reason', () => {
  it.each([
    ['no such Pod', '/exec/default/q/main?output=1&command=says', 404, 'pod does not exist'],
    [
      'no such container',
      '/exec/default/p/x?output=1&command=says',
      404,
      'container not found ("x")',
    ],
    ['no command', '/exec/default/p/main?output=1', 400, 'you must specify a command'],
    [
      'no stream',
      '/exec/default/p/main?command=says',
      400,
      'you must specify at least 1 of stdin, stdout, stderr',
    ],
    [
      'ports in a protocol of commands',
      '/portForward/default/p',
      400,
      'this node speaks SPDY/3.1+portforward.k8s.io',
    ],
  ])('%s', async (_, path, status, message) => {
    await startNode();
    const response = await ask(path);
    expect(response.status).toBe(status);
    expect(text(response)).toContain(message);
  });

  it('an unknown protocol', async () => {
    await startNode();
    expect(text(await ask(`${EXEC}says`, 'v1.base64.channel.k8s.io'))).toContain(
      'this node speaks v5.channel.k8s.io, v4.channel.k8s.io',
    );
  });
});

describe('a command', () => {
  it('writes to both streams, and its exit code comes last', async () => {
    await startNode();
    const client = await connect(`${EXEC}says`);
    await node.clock.runUntil(() => client.isClosed, 1_000);
    expect(client.channel(1)).toBe('out');
    expect(client.channel(2)).toBe('err');
    expect(JSON.parse(client.channel(3))).toMatchObject({
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '3' }] },
    });
  });

  it('reads until the client ends its input', async () => {
    await startNode();
    const client = await connect(`${EXEC}cat`);
    client.send(0, 'one ');
    client.send(0, 'two');
    client.sendBytes(Uint8Array.of(255, 0));
    await node.clock.runUntil(() => client.isClosed, 1_000);
    expect(client.channel(1)).toBe('one two');
    expect(JSON.parse(client.channel(3))).toEqual({ metadata: {}, status: 'Success' });
  });

  it('is ended when the client goes', async () => {
    await startNode();
    const before = node.processes.running.length;
    const client = await connect(`${EXEC}serves`);
    await node.clock.settle();
    expect(node.processes.running.length).toBe(before + 1);
    client.leave();
    await node.clock.advance(2_000);
    expect(node.processes.running.length).toBe(before);
  });

  it('that does not exist is reported on the stream of errors', async () => {
    await startNode();
    const client = await connect(`${EXEC}nothing`);
    await node.clock.runUntil(() => client.isClosed, 1_000);
    expect(JSON.parse(client.channel(3))).toMatchObject({ reason: 'InternalError', code: 500 });
  });

  it('gets no terminal where there is no util-linux', async () => {
    await startNode();
    const client = await connect('/exec/default/p/main?output=1&tty=1&command=says');
    await node.clock.runUntil(() => client.isClosed, 1_000);
    expect(client.channel(3)).toContain('leave out -t');
  });
});

describe('an attachment', () => {
  it('carries what the container reads and writes, and leaves it alone', async () => {
    await startNode();
    const client = await connect('/attach/default/p/reader?output=1&input=1');
    client.send(0, 'hello');
    await node.clock.runUntil(() => client.channel(1) !== '', 1_000);
    expect(client.channel(1)).toBe('heard hello');
    client.leave();
    await node.clock.advance(10_000);
    expect(node.isRunning('reader')).toBe(true);
  });

  it('that reads its output too slowly is dropped, and the container continues', async () => {
    await startNode();
    const client = await connect('/attach/default/p/main?output=1', 'v4.channel.k8s.io');
    client.pause();
    for (let i = 0; i < 6; i++) node.process('main').write('stdout', 'x'.repeat(1024 * 1024));
    client.resume();
    await node.clock.runUntil(() => client.isClosed, 1_000);
    expect(client.channel(3)).toContain('too slowly');
    expect(node.isRunning('main')).toBe(true);
  });
});

describe('a connection', () => {
  it('answers pings', async () => {
    await startNode();
    const client = await connect(`${EXEC}serves`);
    client.ping('still there?');
    await node.clock.runUntil(() => client.pongs.length > 0, 1_000);
    expect(client.pongs).toEqual(['still there?']);
  });

  it('is refused beyond 256 at a time', async () => {
    await startNode();
    for (let i = 0; i < 256; i++) await connect(`${EXEC}serves`);
    expect((await ask(`${EXEC}serves`)).status).toBe(429);
  });
});

function ask(path: string, protocol = 'v5.channel.k8s.io'): Promise<HttpResponse> {
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': protocol,
  };
  const { signal } = new AbortController();
  return node.agent.handler({ method: 'GET', path, headers, signal });
}

async function connect(path: string, protocol = 'v5.channel.k8s.io'): Promise<Client> {
  return new Client(await openWebSocket(node.agent.handler, path, protocol));
}

class Client {
  readonly pongs: string[] = [];
  isClosed = false;
  readonly #socket: WebSocket;
  readonly #messages: Buffer[] = [];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (message: Buffer) => this.#messages.push(message));
    socket.on('pong', (payload) => this.pongs.push(payload.toString()));
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  send(channel: number, message: string): void {
    this.sendBytes(Buffer.concat([Uint8Array.of(channel), Buffer.from(message)]));
  }

  sendBytes(message: Uint8Array): void {
    this.#socket.send(message);
  }

  ping(message: string): void {
    this.#socket.ping(message);
  }

  /** Takes nothing until it resumes. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  leave(): void {
    this.#socket.terminate();
  }

  /** Everything that came on a channel. */
  channel(number: number): string {
    return this.#messages
      .filter((message) => message[0] === number)
      .map((message) => message.subarray(1).toString())
      .join('');
  }
}

function text({ body }: HttpResponse): string {
  return body instanceof Uint8Array ? Buffer.from(body).toString() : '';
}
