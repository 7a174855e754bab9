/** The garbage collector's informers. */
import type { PartialObjectMetadata } from '@lockstep/kube/meta.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Informer, ResourceEventHandler } from '@lockstep/kube/runtime/informer/informer.ts';
import type { DiscoveredResource } from '../discovery.ts';

/** One metadata-only informer for each resource that can be listed, watched and deleted. */
export class ResourceMonitors {
  readonly #start: (resource: Resource) => Informer<PartialObjectMetadata>;
  readonly #handler: (resource: Resource) => Required<ResourceEventHandler<PartialObjectMetadata>>;
  readonly #monitors = new Map<string, Monitor>();
  /** Every kind that is served, whether or not it is monitored. */
  #kinds = new Map<string, Resource>();

  constructor(
    start: (resource: Resource) => Informer<PartialObjectMetadata>,
    handler: (resource: Resource) => Required<ResourceEventHandler<PartialObjectMetadata>>,
  ) {
    this.#start = start;
    this.#handler = handler;
  }

  /** Follows `resources` from now on, and reports the objects of removed resources as deleted. */
  async follow(resources: readonly DiscoveredResource[]): Promise<void> {
    this.#kinds = new Map(resources.map((of) => [kindKey(of.group, of.kind), of]));
    const wanted = new Map(resources.filter(isCollectable).map((of) => [resourceKey(of), of]));
    for (const [key, resource] of wanted) {
      if (this.#monitors.has(key)) continue;
      const informer = this.#start(resource);
      informer.subscribe(this.#handler(resource));
      this.#monitors.set(key, { resource, informer });
    }
    for (const [key, { resource, informer }] of this.#monitors) {
      if (wanted.has(key)) continue;
      this.#monitors.delete(key);
      await informer.stop();
      const handler = this.#handler(resource);
      for (const object of informer.store.values()) handler.deleted(object);
    }
  }

  /** The resource of a kind, undefined if no group of that name serves it. */
  resourceOf(apiVersion: string, kind: string): Resource | undefined {
    const slash = apiVersion.indexOf('/');
    return this.#kinds.get(kindKey(slash < 0 ? '' : apiVersion.slice(0, slash), kind));
  }

  /** Whether every informer has a complete list. False before the first `follow`. */
  haveSynced(): boolean {
    if (this.#monitors.size === 0) return false;
    for (const { informer } of this.#monitors.values()) if (!informer.hasSynced()) return false;
    return true;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#monitors.values()].map(({ informer }) => informer.stop()));
  }
}

interface Monitor {
  readonly resource: Resource;
  readonly informer: Informer<PartialObjectMetadata>;
}

/** Events are skipped: they are many, short-lived, and own nothing. */
function isCollectable({ plural, verbs }: DiscoveredResource): boolean {
  return plural !== 'events' && ['list', 'watch', 'delete'].every((verb) => verbs.includes(verb));
}

function resourceKey({ group, version, plural }: Resource): string {
  return `${group}/${version}/${plural}`;
}

function kindKey(group: string, kind: string): string {
  return `${group}/${kind}`;
}
