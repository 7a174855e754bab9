/** The logger of the operator and the command line. */
import {
  type DestinationStream,
  type Logger as Pino,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import { ApiStatusError } from '../../status.ts';
import { DeadlineError } from '../deadline.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import { TransportError } from '../ports/transport.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** The destination of lines: a file descriptor, or a writer of whole lines. */
export type LogDestination = number | DestinationStream;

/**
 * Writes one JSON object per line: `level`, `time` (RFC 3339), the fields, `msg`. Each line is
 * written at once, so that the last one before a crash is not lost.
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
 * Errors of the API server and of connections are shown without a stack, which says nothing about
 * them. A time-out is shown with its cause.
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
  // A closed pipe or a full disk must not end the process.
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
