/**
 * Opens files that workers write. A worker may put anything at such a path: a FIFO, a link to a
 * secret, a directory. Only a regular file is read, and no kind of file makes an open wait.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';

const { O_RDONLY, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The file exists, but it cannot be read. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

/** Changes whenever the file does; undefined while there is no file that can be read. */
export async function fileState(path: string): Promise<string | undefined> {
  try {
    return stateText(await lstat(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

export interface ReadEnd {
  readonly state: string;
  /** Bytes. */
  readonly size: number;
  /** The last bytes of the file. */
  readonly end: Buffer;
}

/** Undefined if there is no file; rejects with `UnreadableFileError` if there is anything else. */
export async function readEnd(path: string, maxBytes: number): Promise<ReadEnd | undefined> {
  const file = await opened(path, O_RDONLY);
  if (file === undefined) return undefined;
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) throw new UnreadableFileError('it is no regular file');
    const size = Number(stat.size);
    const length = Math.min(size, maxBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return { state: stateText(stat), size, end: buffer.subarray(0, bytesRead) };
  } finally {
    await file.close();
  }
}

/** Empties a regular file, and returns its new state. */
export async function emptyFile(path: string): Promise<string | undefined> {
  const file = await opened(path, O_WRONLY);
  if (file === undefined) return undefined;
  try {
    if ((await file.stat()).isFile()) await file.truncate(0);
    return stateText(await file.stat({ bigint: true }));
  } finally {
    await file.close();
  }
}

async function opened(path: string, access: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, access | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    if (code === 'ENOENT') return undefined;
    const why = code === 'ELOOP' ? 'it is a symbolic link' : `it cannot be opened: ${code}`;
    throw new UnreadableFileError(why);
  }
}

function stateText(stat: { ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}
