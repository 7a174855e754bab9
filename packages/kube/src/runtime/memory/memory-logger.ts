import type { LogFields, Logger } from '../ports/logger.ts';

export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  /** The fields of `with` and of the call; fields of the call win. */
  readonly fields: LogFields;
}

/** A logger whose lines a test can read. Loggers made by `with` write to the same records. */
export class MemoryLogger implements Logger {
  readonly records: LogRecord[];
  readonly #fields: LogFields;

  constructor(records: LogRecord[] = [], fields: LogFields = {}) {
    this.records = records;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#add('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#add('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#add('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#add('error', message, fields);
  }

  with(fields: LogFields): Logger {
    return new MemoryLogger(this.records, { ...this.#fields, ...fields });
  }

  #add(level: LogRecord['level'], message: string, fields: LogFields = {}): void {
    this.records.push({ level, message, fields: { ...this.#fields, ...fields } });
  }
}
