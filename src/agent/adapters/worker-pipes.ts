/**
 * The streams of a supervised worker as pipes through the agent. They are FIFOs, because Node's own
 * pipes to children are sockets, which cannot be opened as `/dev/stderr`. A pipe serves one
 * process after the other.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { OutputStream, WorkerOutput } from '../worker/worker-output.ts';
import type { OutputSink } from './output-sink.ts';
import { PrefixedLines } from './prefixed-lines.ts';
import { programOnPath } from './worker-shell.ts';

const MKFIFO_TIMEOUT_MS = 5000;
/** What the kernel lets a pipe hold at most, unless the machine has another setting. */
const MAX_PIPE_BYTES = 1024 * 1024;
const READ_BYTES = 64 * 1024;
/** For all pipes: what is read is copied at once. */
const DRAINED = Buffer.allocUnsafe(READ_BYTES);
/**
 * How long the beginning of a line waits for its end, so that the agent's own lines come between
 * lines. Longer beginnings do not wait.
 */
const LINE_WAIT_MS = 10;
/** How long it waits with one of several processes, whose lines have to stay whole. */
const PREFIXED_LINE_WAIT_MS = 1000;
/** So little is prefixed at a time that a slow reader leaves little in our memory. */
const PREFIXED_BYTES = 16 * 1024;
/** What is kept of the last output of a process whose reader is slow. */
const MAX_LAST_BYTES = 128 * 1024;
/** Nothing is added to more than this at the end of a process, so that crash loops fill no memory. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

export interface WorkerPipesOptions {
  readonly sinks: { readonly [S in OutputStream]?: OutputSink };
  /** The search path of the worker, for `mkfifo`. */
  readonly path: string;
  /** A directory of the agent. */
  readonly directory: string | undefined;
  /** Processes of a worker, each with pipes of its own; absent: one. */
  readonly processes?: number;
  readonly logger: Logger;
}

export function createWorkerPipes(options: WorkerPipesOptions): WorkerOutput {
  // A worker and its standby need two sets.
  const free = openSets(options);
  return {
    async begin(take, linePrefix) {
      if (free.length === 0) free.push(...openSets(options));
      const set = free.pop() ?? Promise.resolve([]);
      const opened = await set;
      const ends: (readonly [OutputStream, number])[] = [];
      try {
        for (const pipe of opened) {
          ends.push([pipe.stream, pipe.writeEnd()]);
          pipe.begin((chunk) => take(pipe.stream, chunk), linePrefix);
        }
      } catch (error) {
        for (const [, descriptor] of ends.splice(0)) closeSync(descriptor);
        notRead(options, error);
      }
      return {
        streams: Object.fromEntries(ends),
        handedOver: () => {
          for (const [, descriptor] of ends) closeSync(descriptor);
        },
        end: () => {
          for (const pipe of opened) pipe.drain();
          free.push(set);
        },
      };
    },
  };
}

/** A set for each process of a worker. They are empty if they cannot be made, which is logged. */
function openSets(options: WorkerPipesOptions): Promise<readonly Pipe[]>[] {
  const count = options.processes ?? 1;
  const all = openAll(count, options).catch((error: unknown) => notRead(options, error));
  return Array.from({ length: count }, async (_, index) => (await all)?.[index] ?? []);
}

function notRead({ logger }: WorkerPipesOptions, error: unknown): void {
  logger.warn('what the worker prints is not read', { err: String(error) });
}

async function openAll(
  count: number,
  { path, directory, sinks, logger }: WorkerPipesOptions,
): Promise<readonly (readonly Pipe[])[]> {
  const streams = (['stdout', 'stderr'] as const).flatMap((stream) => {
    const sink = sinks[stream];
    return sink === undefined ? [] : [{ stream, sink }];
  });
  if (streams.length === 0) return [];
  const mkfifo = programOnPath('mkfifo', path);
  if (mkfifo === undefined) throw new Error('there is no mkfifo on the PATH');
  const own = await mkdtemp(join(directory ?? tmpdir(), 'output-'));
  const sets = Array.from({ length: count }, (_, index) =>
    streams.map((each) => ({ ...each, fifo: join(own, `${each.stream}-${index}`) })),
  );
  try {
    const fifos = sets.flat().map(({ fifo }) => fifo);
    // A worker that gives up its rights must still be able to open `/dev/stderr`.
    await promisify(execFile)(mkfifo, ['-m', '666', ...fifos], { timeout: MKFIFO_TIMEOUT_MS });
    return sets.map((set) => set.map(({ stream, sink, fifo }) => openPipe(stream, sink, fifo)));
  } finally {
    rm(own, { recursive: true, force: true }).catch((error: unknown) => {
      logger.debug('a directory could not be removed', { path: own, err: String(error) });
    });
  }
}

function openPipe(stream: OutputStream, sink: OutputSink, fifo: string): Pipe {
  const pipe = new Pipe(stream, sink, openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK));
  closeSync(pipe.writeEnd());
  return pipe;
}

class Pipe {
  readonly stream: OutputStream;
  #take: (chunk: Uint8Array) => void = () => undefined;
  readonly #descriptor: number;
  readonly #socket: Socket;
  readonly #sink: OutputSink;
  /** The beginning of a line. */
  #begun: Buffer = Buffer.alloc(0);
  /** Present for one of several processes. */
  #lines: PrefixedLines | undefined;
  /** Output that waits for a slow reader, and has no prefixes yet. */
  #held: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  #linePrefix = '';
  /** Output of processes that have ended, of which the log says nothing yet. */
  #droppedBytes = 0;

  /** The descriptor is open for both directions, so that the pipe never ends. */
  constructor(stream: OutputStream, sink: OutputSink, descriptor: number) {
    this.stream = stream;
    this.#sink = sink;
    this.#descriptor = descriptor;
    this.#socket = new Socket({ fd: descriptor, readable: true, writable: false });
    this.#socket.on('data', (chunk: Buffer) => this.#received(chunk));
    this.#socket.on('error', () => undefined);
  }

  begin(take: (chunk: Uint8Array) => void, linePrefix: string | undefined): void {
    this.#take = take;
    this.#linePrefix = linePrefix ?? '';
    this.#lines = linePrefix === undefined ? undefined : new PrefixedLines(linePrefix);
  }

  /** A new description for each worker, because it may change how its own blocks. */
  writeEnd(): number {
    const { O_WRONLY, O_NONBLOCK } = constants;
    return openSync(`/proc/self/fd/${this.#descriptor}`, O_WRONLY | O_NONBLOCK);
  }

  drain(): void {
    // What a paused socket has read already comes before what is still in the pipe.
    while (this.#socket.readableLength > 0 && this.#socket.read() !== null);
    try {
      for (let total = 0; total < MAX_PIPE_BYTES; ) {
        const length = readSync(this.#descriptor, DRAINED);
        if (length === 0) break;
        total += length;
        this.#received(Buffer.from(DRAINED.subarray(0, length)));
      }
    } catch {
      // There is nothing left to read.
    }
    if (this.#lines === undefined) this.#passOn();
    else this.#endLines(this.#lines);
  }

  #received(chunk: Buffer): void {
    this.#take(chunk);
    if (this.#lines !== undefined) {
      this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
      // While the reader is slow, only the last output of a process that has ended comes here.
      if (!this.#socket.isPaused()) this.#passLines(this.#lines);
      return;
    }
    clearTimeout(this.#timer);
    const lines = chunk.lastIndexOf('\n') + 1;
    if (lines > 0) {
      this.#passOn(chunk.subarray(0, lines));
      this.#begun = chunk.subarray(lines);
    } else this.#begun = Buffer.concat([this.#begun, chunk]);
    if (this.#begun.length >= READ_BYTES) this.#passOn();
    else if (this.#begun.length > 0) {
      this.#timer = setTimeout(() => this.#passOn(), LINE_WAIT_MS);
    }
  }

  /** A slow reader holds the worker back, as if the worker wrote there itself. */
  #passOn(more: Buffer = Buffer.alloc(0)): void {
    const bytes = Buffer.concat([this.#begun, more]);
    this.#begun = Buffer.alloc(0);
    if (bytes.length === 0 || this.#sink.write(bytes)) return;
    this.#socket.pause();
    this.#sink.drained(() => this.#socket.resume());
  }

  #passLines(lines: PrefixedLines): void {
    while (this.#held.length > 0) {
      const out = lines.add(this.#held.subarray(0, PREFIXED_BYTES));
      this.#held = this.#held.subarray(PREFIXED_BYTES);
      if (out.length === 0) continue;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      if (!this.#writeLines(out)) return;
    }
    if (!lines.hasBegun) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (lines.hasBegun) this.#writeLines(lines.flush());
    }, PREFIXED_LINE_WAIT_MS);
  }

  /** False if the sink is full: the rest waits. */
  #writeLines(out: Buffer): boolean {
    if (this.#sink.write(out)) return true;
    this.#socket.pause();
    this.#sink.drained(() => {
      this.#socket.resume();
      if (this.#lines !== undefined) this.#passLines(this.#lines);
    });
    return false;
  }

  /** The process has ended: what is left of its output goes out, whole lines or not. */
  #endLines(lines: PrefixedLines): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    const kept = Math.min(MAX_LAST_BYTES, MAX_WAITING_BYTES - this.#sink.waiting);
    if (held.length <= kept) {
      const last = Buffer.concat([lines.add(held), lines.flush()]);
      if (last.length > 0) this.#sink.write(last);
      return;
    }
    const begun = lines.flush();
    if (kept <= 0) {
      const isFirst = this.#droppedBytes === 0;
      this.#droppedBytes += begun.length + held.length;
      if (isFirst && this.#droppedBytes > 0) {
        this.#sink.drained(() => this.#sink.write(this.#dropped()));
      }
      return;
    }
    const cut = held.length - kept;
    // What is kept begins with a line, if there is one.
    const line = held.indexOf('\n', cut - 1) + 1;
    const from = line === 0 || line === held.length ? cut : line;
    this.#droppedBytes += from;
    const rest = lines.add(held.subarray(from));
    this.#sink.write(Buffer.concat([begun, this.#dropped(), rest, lines.flush()]));
  }

  /** A line about output that was dropped, once. */
  #dropped(): Buffer {
    const bytes = this.#droppedBytes;
    this.#droppedBytes = 0;
    if (bytes === 0) return Buffer.alloc(0);
    const why = 'because the log is read too slowly';
    return Buffer.from(`${this.#linePrefix}lockstep: ${bytes} bytes were dropped, ${why}\n`);
  }
}
