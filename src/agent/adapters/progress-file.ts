/**
 * Reads a worker's progress file. The worker may append to it or replace it, so after any change of
 * the file its newest complete line is a new report.
 */
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { LineListener, ProgressFile } from '../progress/progress-files.ts';
import {
  emptyFile,
  fileState,
  type ReadEnd,
  readEnd,
  UnreadableFileError,
} from './guarded-file.ts';

/** The newest complete line counts if it is in the last bytes of the file. */
const MAX_READ_BYTES = 4096;
/** A larger file is emptied: a worker that appends for months must not fill its disk. */
const MAX_FILE_BYTES = 1024 * 1024;

const LINE_FEED = 0x0a;

export interface ProgressFileOptions {
  readonly path: string;
  /** The file may be from before: nothing counts until it changes. */
  readonly mayBeOld?: boolean;
  /** Gets all complete lines at the end of the file after each change. */
  readonly heard?: LineListener | undefined;
  readonly logger: Logger;
}

export function openProgressFile(options: ProgressFileOptions): ProgressFile {
  const { path, mayBeOld, heard, logger } = options;
  let known: Promise<string | undefined> =
    mayBeOld === true ? fileState(path) : Promise.resolve(undefined);
  /**
   * A file of one line without its end: the worker may still be writing it. It counts once it
   * stays as it is, or is written again.
   */
  let unfinished: string | undefined;
  const told = new Set<string>();
  const tell = (problem: string): void => {
    if (told.has(problem)) return;
    told.add(problem);
    logger.warn('a progress file is not as expected', { path, problem });
  };

  const readChanged = async (): Promise<string | undefined> => {
    const read = await readEnd(path, MAX_READ_BYTES);
    if (read === undefined) return undefined;
    known = Promise.resolve(read.state);
    const { line, rest } = newestLine(read);
    if (heard !== undefined) for (const whole of wholeLines(read)) heard(whole);
    if (line === undefined && read.size > MAX_READ_BYTES) tell('its newest line is too long');
    const earlier = unfinished;
    unfinished =
      line === undefined && read.size <= MAX_READ_BYTES && rest !== '' ? rest : undefined;
    if (read.size > MAX_FILE_BYTES) {
      tell('it was larger than 1 MiB, and was emptied');
      known = Promise.resolve(await emptyFile(path));
    }
    const isRewritten = earlier !== undefined && unfinished?.startsWith(earlier) === false;
    return isRewritten ? earlier : line;
  };

  return {
    async read() {
      const before = await known;
      const state = await fileState(path);
      if (state === undefined) return undefined;
      if (state === before) {
        const line = unfinished;
        unfinished = undefined;
        return line;
      }
      try {
        return await readChanged();
      } catch (error) {
        // A file that cannot be read is tried again when it changes.
        known = Promise.resolve(state);
        tell(error instanceof UnreadableFileError ? error.message : String(error));
        return undefined;
      }
    },
  };
}

/** `rest` is the text after the last line feed. */
function newestLine({ size, end }: ReadEnd): { readonly line?: string; readonly rest: string } {
  const last = end.lastIndexOf(LINE_FEED);
  const rest = textOf(end.subarray(last + 1));
  if (last === -1) return { rest };
  const before = end.subarray(0, last);
  const start = before.lastIndexOf(LINE_FEED) + 1;
  const isWhole = start > 0 || size <= end.length;
  return isWhole ? { line: textOf(before.subarray(start)), rest } : { rest };
}

function wholeLines({ size, end }: ReadEnd): readonly string[] {
  const lines = textOf(end).split('\n').slice(0, -1);
  return size <= end.length ? lines : lines.slice(1);
}

/** A worker that writes on at its old place after the file was emptied leaves zero bytes before. */
function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\0', '');
}
