import {
  type DestinationStream,
  type Logger as Pino,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import { ApiStatusError } from '../../kube/status.ts';
import { DeadlineError } from '../deadline.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import { TransportError } from '../ports/transport.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Where lines go: a file descriptor, or anything that takes whole lines. */
export type LogDestination = number | DestinationStream;

/**
 * One JSON object per line: `level`, `time` (RFC 3339), the fields, `msg`. Lines are written at once,
 * so that the last one before a crash is there.
 */
export function createPinoLogger(options: {
  readonly destination: LogDestination;
  readonly level: LogLevel;
}): Logger {
  return new PinoLogger(
    pino(
      {
        level: options.level,
        base: null,
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { err: shownError },
      },
      typeof options.destination === 'number'
        ? openDescriptor(options.destination)
        : options.destination,
    ),
  );
}

/**
 * What an API server answers and how a connection fails say all by themselves; where we were when we
 * heard of it, nothing. Of a time that is up, one wants to know what it went by with.
 */
function shownError(error: unknown): unknown {
  if (error instanceof ApiStatusError || error instanceof TransportError) {
    return { type: error.name, code: error.code, message: error.message };
  }
  if (error instanceof DeadlineError) {
    const cause = error.cause === undefined ? {} : { cause: shownError(error.cause) };
    return { type: error.name, message: error.message, ...cause };
  }
  return error instanceof Error ? stdSerializers.err(error) : error;
}

function openDescriptor(descriptor: number): DestinationStream {
  const stream = pino.destination({ dest: descriptor, sync: true });
  // A log that nobody reads any more (a closed pipe, a full disk) must not end the process.
  stream.on('error', () => undefined);
  return stream;
}

class PinoLogger implements Logger {
  readonly #pino: Pino;

  constructor(target: Pino) {
    this.#pino = target;
  }

  debug(message: string, fields: LogFields = {}): void {
    this.#pino.debug(fields, message);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#pino.info(fields, message);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#pino.warn(fields, message);
  }

  error(message: string, fields: LogFields = {}): void {
    this.#pino.error(fields, message);
  }

  with(fields: LogFields): Logger {
    return new PinoLogger(this.#pino.child(fields));
  }
}
