import { writeSync } from 'node:fs';
import type { LogFields, Logger } from '@lockstep/kube/runtime/ports/logger.ts';

/**
 * Logs one JSON object per line, as the operator does: `level`, `time`, fields, `msg`. Each line is
 * written at once, so that the last one before the process ends is not lost.
 */
export function createJsonLinesLogger(
  write: (line: string) => void = toStandardError,
  bound: LogFields = {},
): Logger {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      const time = new Date().toISOString();
      const line = { level, time, ...bound, ...fields, msg: message };
      write(`${JSON.stringify(line, plainError)}\n`);
    };
  return {
    debug: () => undefined,
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => createJsonLinesLogger(write, { ...bound, ...fields }),
  };
}

function plainError(_key: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}

const STANDARD_ERROR = 2;

/**
 * Ignores errors: a worker writes to the same place, and a log without a reader must not end the
 * agent.
 */
function toStandardError(line: string): void {
  try {
    writeSync(STANDARD_ERROR, line);
  } catch {
    // The pipe is full or closed.
  }
}
