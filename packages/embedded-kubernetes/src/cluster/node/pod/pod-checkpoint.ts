/**
 * The node's knowledge of a Pod, on file, so that an agent that was killed continues where it was:
 * the records of its containers, what the Pod is about to do, and its address. A process is
 * started, and its end forgotten by its keeper, only after the file says so.
 */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { NodeFiles } from '../ports/node-files.ts';
import type { PodState } from './pod-life.ts';

/** A change of the layout needs a new version; files of unknown versions are not read. */
const VERSION = 1;
const MAX_BYTES = 4 * 1024 * 1024;
/** For the owner only, because it holds messages of containers. */
const MODE = 0o600;
/** JSON has no infinity, which stands for "never". */
const INFINITE = '\u0000Infinity';

export function checkpointDirectory(rootDirectory: string): string {
  return `${rootDirectory}/checkpoints`;
}

/** By UID of the Pod. Unreadable files are left out, as if the Pod had never been here. */
export async function readCheckpoints(
  files: NodeFiles,
  rootDirectory: string,
  logger: Logger,
): Promise<ReadonlyMap<string, PodState>> {
  const directory = checkpointDirectory(rootDirectory);
  const states = new Map<string, PodState>();
  for (const name of files.logNames(directory)) {
    const [, uid] = /^(.+)\.json$/.exec(name) ?? [];
    if (uid === undefined) continue;
    const bytes = await files.readEnd(`${directory}/${name}`, MAX_BYTES);
    const state = parsed(new TextDecoder().decode(bytes));
    if (state === undefined) logger.warn('a checkpoint of a Pod cannot be read', { uid });
    else states.set(uid, state);
  }
  return states;
}

export class PodCheckpoint {
  readonly #files: NodeFiles;
  readonly #logger: Logger;
  readonly #directory: string;
  readonly #path: string;
  readonly #state: () => PodState;
  #isDirty = false;
  #work: Promise<void> | undefined;
  #hasDirectory = false;
  #isRemoved = false;

  /** `state` is called whenever the file is written. */
  constructor(
    files: NodeFiles,
    logger: Logger,
    rootDirectory: string,
    uid: string,
    state: () => PodState,
  ) {
    this.#files = files;
    this.#logger = logger;
    this.#directory = checkpointDirectory(rootDirectory);
    this.#path = `${this.#directory}/${uid}.json`;
    this.#state = state;
  }

  /** The file is written soon; changes of one moment are written together. */
  changed(): void {
    if (this.#isRemoved) return;
    this.#isDirty = true;
    this.#work ??= this.#write().finally(() => {
      this.#work = undefined;
    });
  }

  /** Resolves once the present state is on file. Never rejects: a full disk stops no Pod. */
  async saved(): Promise<void> {
    this.changed();
    await this.#work;
  }

  async remove(): Promise<void> {
    this.#isRemoved = true;
    await this.#work;
    await this.#files.remove(this.#path);
  }

  async #write(): Promise<void> {
    await Promise.resolve();
    while (this.#isDirty && !this.#isRemoved) {
      this.#isDirty = false;
      try {
        if (!this.#hasDirectory) await this.#files.makeDirectory(this.#directory);
        this.#hasDirectory = true;
        await this.#files.write(this.#path, Buffer.from(textOf(this.#state())), MODE);
      } catch (error) {
        this.#logger.error('the checkpoint of a Pod could not be written', { err: error });
      }
    }
  }
}

function textOf(state: PodState): string {
  return JSON.stringify({ version: VERSION, ...state }, (_, value: unknown) =>
    value === Number.POSITIVE_INFINITY ? INFINITE : value,
  );
}

function parsed(text: string): PodState | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text, (_, each: unknown) =>
      each === INFINITE ? Number.POSITIVE_INFINITY : each,
    );
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || value['version'] !== VERSION) return undefined;
  // Only this class writes these files, each in one step: the version guarantees the rest.
  return value as unknown as PodState;
}
