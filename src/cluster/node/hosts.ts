/**
 * Keeps one hosts file for each namespace that has Pods here (`LOCKSTEP_HOSTS`). Changes that come
 * while a file is written are written together afterwards.
 */
import type { Service } from '../../kube/core.ts';
import { type HostsEntry, hostsFile } from './hosts-file.ts';
import { hostsPath, type NodeContext } from './node-context.ts';

export interface HostsSources {
  entries(namespace: string): readonly HostsEntry[];
  services(namespace: string): readonly Service[];
}

export class HostsFiles {
  readonly #context: NodeContext;
  readonly #sources: HostsSources;
  readonly #written = new Map<string, string>();
  readonly #dirty = new Set<string>();
  #work: Promise<void> | undefined;
  #isStopped = false;

  constructor(context: NodeContext, sources: HostsSources) {
    this.#context = context;
    this.#sources = sources;
  }

  /** Something that the file of this namespace is made of has changed. */
  touch(namespace: string): void {
    if (this.#isStopped) return;
    this.#dirty.add(namespace);
    this.#work ??= this.#write().finally(() => {
      this.#work = undefined;
    });
  }

  /** Resolves once the files say what is known now. Never rejects. */
  async flushed(): Promise<void> {
    await this.#work;
  }

  /** Removes the files. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#dirty.clear();
    await this.#work;
    await this.#context.files.remove(hostsPath(this.#context, ''));
  }

  async #write(): Promise<void> {
    // Changes of one moment are written once.
    await Promise.resolve();
    for (const namespace of this.#dirty) {
      this.#dirty.delete(namespace);
      try {
        await this.#writeOne(namespace);
      } catch (error) {
        this.#context.logger.error('a hosts file could not be written', { namespace, err: error });
      }
    }
  }

  async #writeOne(namespace: string): Promise<void> {
    const text = hostsFile(this.#sources.entries(namespace), this.#sources.services(namespace));
    if (this.#written.get(namespace) === text) return;
    const { files } = this.#context;
    await files.makeDirectory(hostsPath(this.#context, ''));
    await files.write(hostsPath(this.#context, namespace), Buffer.from(text), 0o644);
    this.#written.set(namespace, text);
  }
}
