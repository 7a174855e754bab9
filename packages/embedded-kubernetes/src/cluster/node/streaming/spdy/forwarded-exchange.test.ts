import { channelPair } from '@lockstep/kube/runtime/byte-channel.ts';
import { describe, expect, it } from 'vitest';
import { createHeaderInflater } from '../../adapters/header-inflater.ts';
import { ForwardError, forwardedExchange } from './forwarded-exchange.ts';
import { SpdyError } from './frames.ts';
import { ServerSession, type SpdyStream } from './server-session.ts';

/** What the other end does with the two streams of a connection. */
type Forwarding = (data: SpdyStream, error: SpdyStream) => Promise<void>;

async function exchange(forward: Forwarding, maxBytes = 1000): Promise<string> {
  const [near, far] = channelPair();
  const streams: SpdyStream[] = [];
  const session = new ServerSession(far, {
    inflater: createHeaderInflater(),
    maxStreams: 8,
    onStream: (stream) => {
      streams.push(stream);
      const [error, data] = streams;
      if (error !== undefined && data !== undefined) void forward(data, error);
    },
  });
  void session.run();
  try {
    const answer = await forwardedExchange(near, 80, Buffer.from('hello'), maxBytes);
    expect(streams.map(({ headers }) => headers)).toEqual([
      { streamtype: 'error', port: '80', requestid: '0' },
      { streamtype: 'data', port: '80', requestid: '0' },
    ]);
    return Buffer.from(answer).toString();
  } finally {
    near.destroy();
  }
}

describe('an exchange over a forwarded port', () => {
  it('says its word and returns all that comes back', async () => {
    const answer = await exchange(async (data, error) => {
      for await (const chunk of data.channel.incoming) {
        await data.channel.write(Buffer.from(`${Buffer.from(chunk).toString()} yourself`));
        // It ends the connection when both sides have sent everything.
        data.channel.end();
      }
      error.channel.end();
    });
    expect(answer).toBe('hello yourself');
  });

  it('takes a long answer when the stream of errors ends last', async () => {
    const bytes = 20_000;
    const answer = await exchange(async (data, error) => {
      await data.channel.write(Buffer.alloc(bytes, 'a'));
      data.channel.end();
      for await (const _ of data.channel.incoming);
      error.channel.end();
    }, bytes);
    expect(answer).toBe('a'.repeat(bytes));
  });

  it('fails with what the other end says of the port', async () => {
    const refused = exchange(async (data, error) => {
      await error.channel.write(Buffer.from('error forwarding port 80: connection refused'));
      data.channel.end();
      error.channel.end();
    });
    await expect(refused).rejects.toThrow(
      new ForwardError('error forwarding port 80: connection refused'),
    );
  });

  it('takes no more than it has room for', async () => {
    const flood = exchange(async (data) => {
      for (let i = 0; i < 20; i++) await data.channel.write(Buffer.alloc(1000));
    });
    await expect(flood).rejects.toThrow(SpdyError);
  });
});
