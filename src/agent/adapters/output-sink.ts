/**
 * Writes to one of our own standard streams without ever waiting for its reader. A pipe is opened
 * again, because the way in which it blocks would otherwise change for all who share it.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';

export interface OutputSink {
  /** False: the caller should wait for `drained`. */
  write(bytes: Uint8Array | string): boolean;
  /** Calls once the written bytes have gone out. */
  drained(then: () => void): void;
  /** Bytes that wait for the reader. */
  readonly waiting: number;
}

/** 1 for standard output, 2 for standard error. */
export function openSink(descriptor: 1 | 2): OutputSink {
  const pipe = reopenedPipe(descriptor);
  return pipe === undefined ? plainSink(descriptor) : pipeSink(pipe);
}

function reopenedPipe(descriptor: number): number | undefined {
  try {
    if (!fstatSync(descriptor).isFIFO()) return undefined;
    const { O_WRONLY, O_NONBLOCK } = constants;
    return openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK);
  } catch {
    // The stream is closed, the pipe is another user's, or this system shows no descriptors.
    return undefined;
  }
}

function pipeSink(pipe: number): OutputSink {
  const socket = new Socket({ fd: pipe, readable: false, writable: true });
  // A pipe without a reader takes nothing any more.
  socket.on('error', () => undefined);
  // One listener for all processes that are held back.
  const held: (() => void)[] = [];
  const settle = (): void => {
    for (const then of held.splice(0)) then();
  };
  socket.on('drain', settle).on('close', settle);
  return {
    write: (bytes) => socket.destroyed || socket.write(bytes),
    drained: (then) => {
      if (socket.destroyed) then();
      else held.push(then);
    },
    get waiting() {
      return socket.writableLength;
    },
  };
}

/** Files and terminals take everything at once. A socket cannot be opened again. */
function plainSink(descriptor: number): OutputSink {
  return {
    write: (bytes) => {
      let rest = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
      try {
        while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
      } catch {
        // The stream is closed, or full while another process made it non-blocking.
      }
      return true;
    },
    drained: (then) => then(),
    waiting: 0,
  };
}
