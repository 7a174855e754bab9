/**
 * Finds and reads the files of ranks, beside a worker's progress file: `<path>.<local rank>`, and the
 * same with `.error` for an exception. The worker may put anything into the directory, so a look at it
 * is bounded, and the directory is read only after it has changed.
 */
import { lstat, opendir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { MAX_RANKS_OF_POD } from '../../jobset/reported-number.ts';
import type { RankFailure, RankFile, RankFiles } from '../progress/progress-files.ts';
import { torchErrorText } from '../worker/last-words.ts';
import { readEnd } from './guarded-file.ts';
import { openProgressFile } from './progress-file.ts';

/** Each rank has a file of its reports, and others for its stacks, its errors and its dumps. */
const MAX_ENTRIES = 1024;
/** The file holds JSON, which is of use only as a whole. */
const MAX_ERROR_BYTES = 64 * 1024;
/**
 * A directory that was made for this start is empty while it was last changed when it was made. Clocks
 * of files are coarse, so a few looks later it is read all the same.
 */
const FRESH_LOOKS = 8;
const NANOSECONDS_IN_MS = 1_000_000;

export interface RankFilesOptions {
  /** The progress file of the worker. */
  readonly path: string;
  /** The files may be from before: nothing in those that are there now counts until it changes. */
  readonly mayBeOld?: boolean;
  readonly logger: Logger;
}

export function openRankFiles({ path, mayBeOld, logger }: RankFilesOptions): RankFiles {
  const directory = dirname(path);
  const prefix = `${basename(path)}.`;
  const known = new Set<number>();
  /** The state of the directory at the last two looks: its clock may be as coarse as 10 ms. */
  let seen: readonly (bigint | undefined)[] = [];
  let looks = 0;
  let isTold = false;

  const ranksThere = async (): Promise<readonly number[]> => {
    const found: number[] = [];
    let entries = 0;
    for await (const { name } of await opendir(directory)) {
      if (++entries > MAX_ENTRIES) {
        if (!isTold) logger.warn('too many files beside a progress file', { path, MAX_ENTRIES });
        isTold = true;
        break;
      }
      const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
      if (/^(0|[1-9][0-9]?)$/.test(digits)) found.push(Number(digits));
    }
    return found.filter((local) => local < MAX_RANKS_OF_POD && !known.has(local));
  };

  const look = async (isOld: boolean): Promise<readonly RankFile[]> => {
    const { mtimeNs, birthtimeNs } = await lstat(directory, { bigint: true });
    const isFresh = mayBeOld !== true && ++looks <= FRESH_LOOKS;
    if (isFresh && mtimeNs === birthtimeNs) return [];
    if (seen.length === 2 && seen.every((time) => time === mtimeNs)) return [];
    const found = await ranksThere();
    seen = [...seen.slice(-1), mtimeNs];
    return found.map((local) => {
      known.add(local);
      const file = openProgressFile({ path: `${path}.${local}`, mayBeOld: isOld, logger });
      return { local, file };
    });
  };
  const calm = (looked: Promise<readonly RankFile[]>) => looked.catch(() => []);

  let old = mayBeOld === true ? calm(look(true)) : Promise.resolve([]);
  return {
    async found() {
      const before = await old;
      old = Promise.resolve([]);
      return [...before, ...(await calm(look(false)))];
    },
    async isTerminated(local) {
      try {
        const found = await lstat(`${path}.${local}.terminated`);
        return found.isFile() ? found.size > 0 : undefined;
      } catch {
        return undefined;
      }
    },
    async failure(local) {
      try {
        const read = await readEnd(`${path}.${local}.error`, MAX_ERROR_BYTES);
        return read && failureIn(read.end.toString('utf8'));
      } catch (error) {
        logger.warn('what a rank wrote of its error cannot be read', { local, err: String(error) });
        return undefined;
      }
    },
  };
}

/** Undefined for anything else than what the Python package writes. */
function failureIn(json: string): RankFailure | undefined {
  const { pid, monotonicNs } = parsedObject(json) ?? {};
  if (typeof pid !== 'number' || typeof monotonicNs !== 'string') return undefined;
  if (!/^[0-9]{1,19}$/.test(monotonicNs)) return undefined;
  // The clock of the machine, of which the agent's counts from its own start.
  const ageMs = Number(process.hrtime.bigint() - BigInt(monotonicNs)) / NANOSECONDS_IN_MS;
  return { pid, atMs: performance.now() - ageMs, text: torchErrorText(json) };
}
