/** Reads the discovery documents of an API server. */
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';

/**
 * The resources of an API server: each in the preferred version of its group, without subresources.
 */
export interface DiscoveredResource extends Resource {
  readonly verbs: readonly string[];
}

/** How many group versions are requested at a time. */
const MAX_REQUESTS_IN_FLIGHT = 8;

/**
 * Rejects if any group does not answer: with half a list, resources would seem to have vanished.
 */
export async function discoverResources(
  client: Client,
  signal: AbortSignal,
): Promise<readonly DiscoveredResource[]> {
  const groups = (await client.getPath('/apis', { signal })) as ApiGroupList;
  const preferred = groups.groups.map((group) => group.preferredVersion.groupVersion);
  const found: DiscoveredResource[] = [];
  await forEachConcurrently(['v1', ...preferred], MAX_REQUESTS_IN_FLIGHT, async (groupVersion) => {
    const path = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
    const list = (await client.getPath(path, { signal })) as ApiResourceList;
    found.push(...resourcesOf(list));
  });
  return found.sort((a, b) => compare(a.group, b.group) || compare(a.plural, b.plural));
}

/** `meta/v1 APIGroupList`. */
interface ApiGroupList {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
}

/** `meta/v1 APIResourceList`. */
interface ApiResourceList {
  readonly groupVersion: string;
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

function resourcesOf({ groupVersion, resources }: ApiResourceList): DiscoveredResource[] {
  const slash = groupVersion.indexOf('/');
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, verbs }) => ({
      group: slash < 0 ? '' : groupVersion.slice(0, slash),
      version: groupVersion.slice(slash + 1),
      plural: name,
      kind,
      namespaced,
      verbs,
    }));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
