/** The node's directories and logs on this machine's disk. */
import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { mkdir, open, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileKind, LogFile, NodeFiles } from '../ports/node-files.ts';

/** Directories are accessible only to the owner, because they hold tokens. */
export function createNodeFiles(): NodeFiles {
  let temporaries = 0;
  return {
    async makeDirectory(path) {
      await mkdir(path, { recursive: true, mode: DIRECTORY_MODE });
    },
    remove: (path) => rm(path, { recursive: true, force: true, maxRetries: REMOVE_RETRIES }),
    async write(path, bytes, mode) {
      const temporary = `${path}.${++temporaries}.tmp`;
      try {
        await writeFile(temporary, bytes, { mode });
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw error;
      }
    },
    link: (target, path) => symlink(target, path),
    kindOf,
    readEnd,
    openLog,
    readLog,
    logSize: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
    logNames: (path) => orIfMissingSync(() => readdirSync(path), []).sort(),
    renameLog: renameSync,
    removeLog: (path) => rmSync(path, { force: true }),
  };
}

const DIRECTORY_MODE = 0o700;
/** A process that was just killed may have created a file while its directory was being emptied. */
const REMOVE_RETRIES = 3;

function openLog(path: string): LogFile {
  mkdirSync(dirname(path), { recursive: true, mode: DIRECTORY_MODE });
  const file = openSync(path, 'a', 0o600);
  return {
    append: (bytes) => appendFileSync(file, bytes),
    close: () => closeSync(file),
  };
}

function readLog(path: string, offset: number, length: number): Uint8Array {
  return orIfMissingSync(() => {
    const file = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(Math.min(length, Math.max(0, fstatSync(file).size - offset)));
      const size = readSync(file, buffer, 0, buffer.length, offset);
      return buffer.subarray(0, size);
    } finally {
      closeSync(file);
    }
  }, Buffer.alloc(0));
}

async function readEnd(path: string, limit: number): Promise<Uint8Array> {
  // Opening a pipe that a container left here would wait for a writer for ever.
  if ((await kindOf(path)) !== 'file') return Buffer.alloc(0);
  return orIfMissing(async () => {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const buffer = Buffer.alloc(Math.min(size, limit));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, Math.max(0, size - limit));
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }, Buffer.alloc(0));
}

async function kindOf(path: string): Promise<FileKind | undefined> {
  return orIfMissing(async () => {
    const found = await stat(path);
    if (found.isDirectory()) return 'directory';
    return found.isFile() ? 'file' : 'other';
  }, undefined);
}

async function orIfMissing<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error;
  }
}

function orIfMissingSync<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
