import { assert } from '../../../kube/assert.ts';
import type { ServedResource } from './served-resource.ts';

/**
 * All resources that the server offers now, by group, version and plural name. Custom resources come
 * and go with their definitions; built-in ones are there from the start.
 */
export class ResourceTable {
  readonly #resources = new Map<string, ServedResource>();
  readonly #listeners = new Set<() => void>();

  get(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#resources.get(`${group}/${version}/${plural}`);
  }

  /** A built-in resource of the core group. */
  core(plural: string): ServedResource {
    const found = this.get('', 'v1', plural);
    assert(found !== undefined, `the server serves ${plural}`);
    return found;
  }

  add(...resources: readonly ServedResource[]): void {
    for (const of of resources) this.#resources.set(`${of.group}/${of.version}/${of.plural}`, of);
    for (const listener of this.#listeners) listener();
  }

  /** Puts the served versions of one resource in place of those there are. */
  replace(group: string, plural: string, versions: readonly ServedResource[]): void {
    for (const [key, of] of this.#resources) {
      if (of.group === group && of.plural === plural) this.#resources.delete(key);
    }
    this.add(...versions);
  }

  all(): Iterable<ServedResource> {
    return this.#resources.values();
  }

  /** Calls `listener` whenever the table has changed: documents made from it are out of date. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }
}
