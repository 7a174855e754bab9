/**
 * Keeps one hosts file for each namespace that has Pods here (`LOCKSTEP_HOSTS`), with the Pods of all
 * nodes that share it. Changes that come while a file is written are written together afterwards.
 */
import { SERVICES, type Service } from '../../kube/core.ts';
import type { Stored } from '../../kube/meta.ts';
import type { Client } from '../../runtime/client.ts';
import { createInformer, type Informer } from '../../runtime/informer.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Logger } from '../../runtime/ports/logger.ts';
import type { Random } from '../../runtime/ports/random.ts';
import { type HostsEntry, hostsFile } from './hosts-file.ts';
import type { NodeFiles } from './node-files.ts';

export interface HostsFilesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly files: NodeFiles;
  /** Absolute; holds nothing else. */
  readonly directory: string;
  /** What the machine calls itself; it can be found under that name. */
  readonly machineName?: string;
}

/** The Pods of one node. */
export type HostsMember = (namespace: string) => readonly HostsEntry[];

export class HostsFiles {
  readonly #options: HostsFilesOptions;
  readonly #services: Informer<Service>;
  readonly #members = new Set<HostsMember>();
  readonly #written = new Map<string, string>();
  readonly #dirty = new Set<string>();
  #work: Promise<void> | undefined;
  #isStopped = false;

  /** Begins to follow the Services, which say what names there are. */
  constructor(options: HostsFilesOptions) {
    this.#options = options;
    this.#services = createInformer<Service>({ ...options, resource: SERVICES });
    const touch = ({ metadata }: Stored<Service>): void => this.touch(metadata.namespace ?? '');
    this.#services.subscribe({ added: touch, updated: touch, deleted: touch });
  }

  /** Resolves when the Services are known. */
  whenReady(signal: AbortSignal): Promise<void> {
    return this.#services.whenSynced(signal);
  }

  pathOf(namespace: string): string {
    return `${this.#options.directory}/${namespace}`;
  }

  join(member: HostsMember): void {
    this.#members.add(member);
  }

  leave(member: HostsMember): void {
    this.#members.delete(member);
  }

  /** Something that the file of this namespace is made of has changed. */
  touch(namespace: string): void {
    if (this.#isStopped || this.#members.size === 0) return;
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
    await this.#services.stop();
    await this.#work;
    await this.#options.files.remove(this.#options.directory);
  }

  async #write(): Promise<void> {
    // Changes of one moment are written once.
    await Promise.resolve();
    for (const namespace of this.#dirty) {
      this.#dirty.delete(namespace);
      try {
        await this.#writeOne(namespace);
      } catch (error) {
        this.#options.logger.error('a hosts file could not be written', { namespace, err: error });
      }
    }
  }

  async #writeOne(namespace: string): Promise<void> {
    const entries = [...this.#members].flatMap((member) => member(namespace));
    const services = [...this.#services.store.values()].filter(
      ({ metadata }) => metadata.namespace === namespace,
    );
    const text = hostsFile(entries, services, this.#options.machineName);
    if (this.#written.get(namespace) === text) return;
    const { files, directory } = this.#options;
    await files.makeDirectory(directory);
    await files.write(this.pathOf(namespace), Buffer.from(text), 0o644);
    this.#written.set(namespace, text);
  }
}
