/**
 * The port of the node's directories and logs. Implementation: `adapters/node-files.ts`. Paths are
 * absolute. Logs are read and written synchronously: a process's output is on file before the node
 * reads on, so a container that never stops writing fills no memory.
 */
export interface NodeFiles {
  /** With its parents; an existing one is kept. */
  makeDirectory(path: string): Promise<void>;
  /** Removes everything in it, never following symbolic links; a missing path is no failure. */
  remove(path: string): Promise<void>;
  /** Replaces the file in one step, so that no reader sees half of it. */
  write(path: string, bytes: Uint8Array, mode: number): Promise<void>;
  /** Creates a symbolic link at `path`. */
  link(target: string, path: string): Promise<void>;
  kindOf(path: string): Promise<FileKind | undefined>;
  /** Up to `limit` bytes of the file's end; nothing if it does not exist. */
  readEnd(path: string, limit: number): Promise<Uint8Array>;
  openLog(path: string): LogFile;
  /** Up to `length` bytes from `offset`; fewer at the end, nothing if the file does not exist. */
  readLog(path: string, offset: number, length: number): Uint8Array;
  /** Bytes; 0 if it does not exist. */
  logSize(path: string): number;
  /** Names in a directory of logs, sorted; none if it does not exist. */
  logNames(path: string): readonly string[];
  renameLog(from: string, to: string): void;
  removeLog(path: string): void;
}

export type FileKind = 'file' | 'directory' | 'other';

/** A log that is open for appending; created with its directory. */
export interface LogFile {
  append(bytes: Uint8Array): void;
  close(): void;
}
