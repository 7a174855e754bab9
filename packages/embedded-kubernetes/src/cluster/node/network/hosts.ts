/**
 * Keeps one hosts file for each namespace with Pods here (`LOCKSTEP_HOSTS`), with the Pods of all
 * nodes that share it, and one for each Pod with `hostAliases`. Changes during a write are written
 * together afterwards.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { SERVICES, type Service } from '@lockstep/kube/objects/core.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { NodeFiles } from '../ports/node-files.ts';
import { type HostsEntry, hostsFile, withHostAliases } from './hosts-file.ts';

export interface HostsFilesOptions extends ClientPorts {
  readonly files: NodeFiles;
  /** Absolute; holds nothing else. */
  readonly directory: string;
  /** The machine's own name, by which it can be found. */
  readonly machineName?: string;
}

/** A disk may be full for a while. */
const RETRY_MS = 5_000;

/** The Pods of one node. */
export type HostsMember = (namespace: string) => readonly HostsEntry[];

export class HostsFiles {
  readonly #options: HostsFilesOptions;
  readonly #services: Informer<Service>;
  readonly #members = new Set<HostsMember>();
  /** By path, by namespace. */
  readonly #written = new Map<string, ReadonlyMap<string, string>>();
  readonly #dirty = new Set<string>();
  /** Namespaces whose file could not be written. */
  readonly #failed = new Set<string>();
  #retry: Timer | undefined;
  #work: Promise<void> | undefined;
  #isStopped = false;

  /** Begins to follow the Services, which define the names. */
  constructor(options: HostsFilesOptions) {
    this.#options = options;
    this.#services = createInformer<Service>({ ...options, resource: SERVICES });
    const touch = ({ metadata }: Stored<Service>): void => this.touch(namespaceOf(metadata));
    this.#services.subscribe({ added: touch, updated: touch, deleted: touch });
  }

  /** Resolves when the Services are known. */
  whenReady(signal: AbortSignal): Promise<void> {
    return this.#services.whenSynced(signal);
  }

  pathOf({ metadata: { namespace = '', uid = '' }, spec: { hostAliases = [] } }: Pod): string {
    const ofAll = this.#pathOfNamespace(namespace);
    // No name of a namespace has a dot in it.
    return hostAliases.length === 0 ? ofAll : `${ofAll}.${uid}`;
  }

  join(member: HostsMember): void {
    this.#members.add(member);
  }

  leave(member: HostsMember): void {
    this.#members.delete(member);
  }

  /** Something in the file of this namespace has changed. */
  touch(namespace: string): void {
    if (this.#isStopped || this.#members.size === 0) return;
    this.#dirty.add(namespace);
    this.#work ??= this.#write().finally(() => {
      this.#work = undefined;
    });
  }

  /** Resolves once the files are up to date. Never rejects. */
  async flushed(): Promise<void> {
    await this.#work;
  }

  /** Removes the files. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#retry?.cancel();
    this.#dirty.clear();
    await this.#services.stop();
    await this.#work;
    await this.#options.files.remove(this.#options.directory);
  }

  async #write(): Promise<void> {
    // Writes changes of one moment together.
    await Promise.resolve();
    for (const namespace of this.#dirty) {
      this.#dirty.delete(namespace);
      try {
        await this.#writeOne(namespace);
      } catch (error) {
        this.#options.logger.warn('a hosts file could not be written', { namespace, err: error });
        this.#tryAgain(namespace);
      }
    }
  }

  #tryAgain(namespace: string): void {
    this.#failed.add(namespace);
    if (this.#isStopped) return;
    this.#retry ??= this.#options.clock.setTimer(RETRY_MS, () => {
      this.#retry = undefined;
      const all = [...this.#failed];
      this.#failed.clear();
      for (const each of all) this.touch(each);
    });
  }

  async #writeOne(namespace: string): Promise<void> {
    const entries = [...this.#members].flatMap((member) => member(namespace));
    const services = [...this.#services.store.values()].filter(
      ({ metadata }) => metadata.namespace === namespace,
    );
    const text = hostsFile(entries, services, this.#options.machineName);
    const wanted = new Map([[this.#pathOfNamespace(namespace), text]]);
    for (const { pod } of entries) {
      const path = this.pathOf(pod);
      if (!wanted.has(path)) wanted.set(path, withHostAliases(text, pod));
    }
    const written = this.#written.get(namespace);
    const { files, directory } = this.#options;
    await files.makeDirectory(directory);
    for (const [path, content] of wanted) {
      if (written?.get(path) !== content) await files.write(path, Buffer.from(content), 0o644);
    }
    for (const path of written?.keys() ?? []) if (!wanted.has(path)) await files.remove(path);
    this.#written.set(namespace, wanted);
  }

  #pathOfNamespace(namespace: string): string {
    return `${this.#options.directory}/${namespace}`;
  }
}
