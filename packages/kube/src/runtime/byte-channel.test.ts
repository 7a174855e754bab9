import { describe, expect, it } from 'vitest';
import { carryBytes, channelPair } from './byte-channel.ts';

describe('a pair of channels', () => {
  it('hands over everything in order, and the end', async () => {
    const [a, b] = channelPair();
    await a.write(Buffer.from('one '));
    await a.write(Buffer.from('two'));
    a.end();
    expect(await textOf(b.incoming)).toBe('one two');
  });

  it('lets a writer wait for a slow reader, and continue when it reads', async () => {
    const [a, b] = channelPair();
    let isWritten = false;
    const writing = a.write(Buffer.alloc(100_000)).then(() => {
      isWritten = true;
    });
    await Promise.resolve();
    expect(isWritten).toBe(false);
    await b.incoming[Symbol.asyncIterator]().next();
    await writing;
  });

  it('releases a writer when the reader leaves', async () => {
    const [a, b] = channelPair();
    const writing = a.write(Buffer.alloc(100_000));
    b.destroy();
    await writing;
    await a.write(Buffer.alloc(100_000));
  });

  it('tells a reader of a break from an end', async () => {
    const [a, b] = channelPair();
    await a.write(Buffer.from('lost'));
    a.destroy();
    await expect(textOf(b.incoming)).rejects.toThrow('broken off');
  });

  it('carries bytes, ends and breaks from one connection to the next', async () => {
    const [client, outer] = channelPair();
    const [inner, server] = channelPair();
    void carryBytes(outer, inner);
    await client.write(Buffer.from('through'));
    client.end();
    expect(await textOf(server.incoming)).toBe('through');

    const [broken, from] = channelPair();
    const [to, last] = channelPair();
    void carryBytes(from, to);
    broken.destroy();
    await expect(textOf(last.incoming)).rejects.toThrow('broken off');
  });
});

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
