/** The directories of workers, and the files in which they leave a message before they end. */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { WorkerFiles } from '../progress/progress-files.ts';
import type { WorkerMessages } from '../worker/worker-messages.ts';
import { fileState, readEnd } from './guarded-file.ts';
import { openProgressFile } from './progress-file.ts';
import { openRankFiles } from './rank-files.ts';

const PREFIX = 'worker-';
/** A file in the directory of a standby that lives. */
const STANDBY_NOTE = 'standby';
/** The worker may have given up the rights with which the agent runs. */
const ANYBODY = 0o777;
const READABLE = 0o644;

/** How many directories of each process of ended workers may wait for a calm moment. */
const MAX_OLD_DIRECTORIES = 4;

/**
 * Files are below `directory`, the agent's own; undefined: below the temporary directory. Each worker
 * has this many processes.
 */
export function createWorkerFiles(
  directory: string | undefined,
  logger: Logger,
  processes = 1,
): WorkerFiles {
  const old: string[] = [];
  const hadStandby = leftBehind(directory).then((paths) => {
    const noted = paths.filter(isOfStandby);
    // A note stays, because each agent of the Pod has to read it.
    old.push(...paths.filter((path) => !noted.includes(path)));
    return noted.length > 0;
  });
  const next: Promise<string>[] = [];

  const make = async (): Promise<string> => {
    const own = await mkdtemp(join(directory ?? tmpdir(), PREFIX));
    await chmod(own, ANYBODY);
    return own;
  };
  return {
    hadStandby,
    async open(heard) {
      if (old.length >= MAX_OLD_DIRECTORIES * processes) void removeAll(old.splice(0));
      const made = next.pop();
      try {
        const own = (await made?.catch(() => undefined)) ?? (await make());
        const progress = join(own, 'progress');
        return {
          progress,
          torchError: join(own, 'error.json'),
          start: join(own, 'start'),
          reports: openProgressFile({ path: progress, heard, logger }),
          ranks: openRankFiles({ path: progress, logger }),
          async begin(text) {
            await appear(join(own, 'start'), text);
            // A worker may remove its start file.
            await rm(join(own, STANDBY_NOTE), { force: true });
          },
          noteStandby(isAlive) {
            const note = join(own, STANDBY_NOTE);
            return isAlive ? writeFile(note, '', { flag: 'wx' }) : rm(note, { force: true });
          },
          done: () => void old.push(own),
        };
      } catch (error) {
        logger.warn('the worker gets no progress file', { err: String(error) });
        return undefined;
      }
    },
    tidy() {
      void removeAll(old.splice(0));
      while (next.length < processes) {
        const made = make();
        made.catch(() => undefined);
        next.push(made);
      }
    },
  };
}

/**
 * Makes a new file, because the worker may write into the directory and put a link in its place.
 */
async function appear(path: string, text: string): Promise<void> {
  const written = `${path}.next`;
  const file = await open(written, 'wx');
  try {
    await file.chmod(READABLE);
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  await rename(written, path);
}

/** Directories of an earlier agent. */
async function leftBehind(directory: string | undefined): Promise<readonly string[]> {
  if (directory === undefined) return [];
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => name.startsWith(PREFIX)).map((name) => join(directory, name));
}

/** Whether a standby left the directory before it began an epoch. */
function isOfStandby(path: string): boolean {
  return existsSync(join(path, STANDBY_NOTE)) && !existsSync(join(path, 'start'));
}

/** Directories that cannot be removed stay until the volume goes. */
async function removeAll(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

/** PyTorch's file holds JSON, which is of use only as a whole. */
const MAX_MESSAGE_BYTES = 64 * 1024;

export function createWorkerMessages(logger: Logger): WorkerMessages {
  let hasFailed = false;
  return {
    async state(path) {
      return fileState(path);
    },
    async changed(path, before) {
      const state = await fileState(path);
      if (state === undefined || state === before) return undefined;
      try {
        return (await readEnd(path, MAX_MESSAGE_BYTES))?.end.toString('utf8');
      } catch (error) {
        if (!hasFailed) logger.warn('a message of the worker cannot be read', { path, err: error });
        hasFailed = true;
        return undefined;
      }
    },
  };
}
