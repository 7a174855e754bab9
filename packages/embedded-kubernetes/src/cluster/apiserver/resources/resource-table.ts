import { assert } from '@lockstep/kube/assert.ts';
import type { ServedResource } from './served-resource.ts';

/**
 * All resources that the server offers at the moment, by group, version and plural name. Custom
 * resources come and go with their definitions; built-in ones are always there.
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

  /** Replaces the served versions of one resource. */
  replace(group: string, plural: string, versions: readonly ServedResource[]): void {
    for (const [key, of] of this.#resources) {
      if (of.group === group && of.plural === plural) this.#resources.delete(key);
    }
    this.add(...versions);
  }

  all(): Iterable<ServedResource> {
    return this.#resources.values();
  }

  /** Calls `listener` after each change, because documents made from the table are out of date. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }
}
