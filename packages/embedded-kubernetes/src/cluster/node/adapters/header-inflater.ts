/** Decompresses the headers of a SPDY session. */
import { constants, createInflate } from 'node:zlib';
import type { HeaderInflater } from '../ports/streaming-ports.ts';
import { HEADER_DICTIONARY } from '../streaming/spdy/header-dictionary.ts';

/** The limit for the headers of a stream; a client sends a hundred bytes. */
const MAX_HEADER_BYTES = 64 * 1024;

export function createHeaderInflater(): HeaderInflater {
  const inflate = createInflate({
    dictionary: HEADER_DICTIONARY,
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  let failure: Error | undefined;
  let fail: (error: Error) => void = () => undefined;
  inflate.on('error', (error) => {
    failure = error;
    fail(error);
  });
  return {
    inflate: (block) =>
      new Promise((resolve, reject) => {
        fail = reject;
        if (failure !== undefined) reject(failure);
        const chunks: Buffer[] = [];
        let size = 0;
        const collect = (chunk: Buffer): void => {
          size += chunk.byteLength;
          chunks.push(chunk);
          if (size > MAX_HEADER_BYTES) inflate.destroy(new Error('the headers are too long'));
        };
        inflate.on('data', collect);
        inflate.write(block, () => {
          inflate.flush(constants.Z_SYNC_FLUSH, () => {
            inflate.off('data', collect);
            resolve(Buffer.concat(chunks));
          });
        });
      }),
    close: () => inflate.destroy(),
  };
}
