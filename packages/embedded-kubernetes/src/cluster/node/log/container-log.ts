/**
 * The log of one run of a container on disk: `<restart>.log`, and when that is full
 * `<restart>.log.1`, `.2`, ... in the order of time; the oldest are removed. Readers of a growing log
 * are notified. What the disk does not take is lost, and the container continues.
 */
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { LogFile, NodeFiles } from '../ports/node-files.ts';
import { CriEncoder, type LogStream } from './cri-lines.ts';

/** As in a kubelet: containerLogMaxSize and containerLogMaxFiles. */
export const MAX_LOG_BYTES = 10 * 1024 * 1024;
export const MAX_LOG_FILES = 5;

const NEWLINE = Buffer.from('\n');

/** How many runs of a container keep their logs. */
export const KEPT_RUNS = 5;

export class ContainerLog {
  readonly directory: string;
  readonly restart: number;
  readonly #files: NodeFiles;
  readonly #clock: Clock;
  readonly #encoder = new CriEncoder();
  readonly #listeners = new Set<() => void>();
  readonly #onProblem: (error: unknown) => void;
  #file: LogFile | undefined;
  #size = 0;
  #rotated = 0;
  #hasEnded = false;
  #isFailing = false;
  /** A failed write has left a part of a line. */
  #isTorn = false;

  /**
   * Never throws. `onProblem`: output is lost from now on; called again only after a success in
   * between.
   */
  constructor(
    files: NodeFiles,
    clock: Clock,
    directory: string,
    restart: number,
    onProblem: (error: unknown) => void,
  ) {
    this.#files = files;
    this.#clock = clock;
    this.directory = directory;
    this.restart = restart;
    this.#onProblem = onProblem;
    this.#attempt(() => {
      this.#file = files.openLog(this.#path);
      // An earlier life of the node may have begun it.
      this.#size = files.logSize(this.#path);
      if (this.#size === 0) return;
      this.#rotated = (logSegments(files, directory, restart).at(-1)?.index ?? 1) - 1;
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  append(stream: LogStream, chunk: Uint8Array): void {
    this.#write(this.#encoder.encode(stream, chunk, this.#clock.now()));
  }

  /** Writes the rest and closes the file. */
  end(): void {
    this.#write(this.#encoder.end(this.#clock.now()));
    this.#close();
    this.#hasEnded = true;
    this.#notify();
  }

  /** Calls `listener` after every change; call the result to stop. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get #path(): string {
    return `${this.directory}/${this.restart}.log`;
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#hasEnded) return;
    this.#attempt(() => {
      if (this.#size > 0 && this.#size + bytes.length > MAX_LOG_BYTES) this.#rotate();
      this.#file ??= this.#files.openLog(this.#path);
      if (this.#isTorn) this.#file.append(NEWLINE);
      this.#isTorn = false;
      this.#file.append(bytes);
      this.#size += bytes.length;
      this.#isFailing = false;
    });
    if (this.#isFailing) this.#lookForPart();
    this.#notify();
  }

  #lookForPart(): void {
    const size = this.#files.logSize(this.#path);
    this.#isTorn ||= size > this.#size;
    this.#size = size;
  }

  #rotate(): void {
    this.#close();
    const next = this.#rotated + 1;
    this.#files.renameLog(this.#path, `${this.#path}.${next}`);
    this.#rotated = next;
    this.#size = 0;
    this.#files.removeLog(`${this.#path}.${next - MAX_LOG_FILES + 1}`);
  }

  #close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) this.#attempt(() => file.close());
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!this.#isFailing) this.#onProblem(error);
      this.#isFailing = true;
    }
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Removes the log of a run that is not kept any longer, if it exists. */
export function removeOldLog(files: NodeFiles, directory: string, restart: number): void {
  for (const { path } of logSegments(files, directory, restart)) files.removeLog(path);
}

/** The numbers of the runs that have a log, in order. */
export function loggedRuns(files: NodeFiles, directory: string): readonly number[] {
  return files
    .logNames(directory)
    .flatMap((name) => /^(\d+)\.log$/.exec(name)?.slice(1).map(Number) ?? [])
    .sort((a, b) => a - b);
}

/** A file of a log. `index` grows with time, so the file being written has the greatest. */
export interface LogSegment {
  readonly index: number;
  readonly path: string;
}

/** The files of one run's log, oldest first; none if it has no log. */
export function logSegments(
  files: NodeFiles,
  directory: string,
  restart: number,
): readonly LogSegment[] {
  const current = `${restart}.log`;
  const names = files.logNames(directory);
  const rotated = names
    .filter((name) => name.startsWith(`${current}.`))
    .map((name) => Number(name.slice(current.length + 1)))
    .sort((a, b) => a - b);
  const segments = rotated.map((index) => ({ index, path: `${directory}/${current}.${index}` }));
  if (!names.includes(current)) return segments;
  return [...segments, { index: (rotated.at(-1) ?? 0) + 1, path: `${directory}/${current}` }];
}
