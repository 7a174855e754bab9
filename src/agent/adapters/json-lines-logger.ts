import { writeSync } from 'node:fs';
import type { LogFields, Logger } from '../../runtime/ports/logger.ts';

/**
 * One JSON object per line, in the form that the operator's logger has: `level`, `time`, fields,
 * `msg`. Written at once, so that the last line before the end of the process is there.
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

/** A worker's own output goes to the same place; a log that nobody takes must not end the agent. */
function toStandardError(line: string): void {
  try {
    writeSync(STANDARD_ERROR, line);
  } catch {
    // A full pipe or a closed one.
  }
}
