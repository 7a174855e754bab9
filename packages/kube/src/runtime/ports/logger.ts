/** The port of structured logging. Keys follow Kubernetes' contextual logging (`jobset`, `pod`, `err`). */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  with(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Drops everything: the default of libraries and of most tests. */
export const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => SILENT,
};
