/** The list of built-in kinds. */
import { apiVersionOf, type Resource } from '@lockstep/kube/resource.ts';
import type { Storage } from '../ports/storage.ts';
import { CONFIG_MAP_KIND, SECRET_KIND, SERVICE_ACCOUNT_KIND } from './kinds/config.ts';
import { CUSTOM_RESOURCE_DEFINITION_KIND } from './kinds/custom-resource-definitions.ts';
import { CORE_EVENT_KIND, EVENT_KIND } from './kinds/events.ts';
import { JOB_KIND } from './kinds/jobs.ts';
import { LEASE_KIND } from './kinds/leases.ts';
import { NAMESPACE_KIND } from './kinds/namespaces.ts';
import { NODE_KIND } from './kinds/nodes.ts';
import { PERSISTENT_VOLUME_CLAIM_KIND } from './kinds/persistent-volume-claims.ts';
import { POD_KIND } from './kinds/pods.ts';
import { RBAC_KINDS } from './kinds/rbac.ts';
import { POD_GROUP_KIND, WORKLOAD_KIND } from './kinds/scheduling.ts';
import { ENDPOINT_SLICE_KIND, SERVICE_KIND } from './kinds/services.ts';
import { WEBHOOK_CONFIGURATION_KINDS } from './kinds/webhook-configurations.ts';
import { type BuiltInKind, servedBuiltIn } from './resources/built-in-kind.ts';
import { Collection } from './resources/collection.ts';
import type { CommitSequence } from './resources/commit-sequence.ts';
import type { ServedResource } from './resources/served-resource.ts';

/** The kinds that the server has without a CustomResourceDefinition. */
export const BUILT_IN_KINDS: readonly BuiltInKind[] = [
  CONFIG_MAP_KIND,
  CORE_EVENT_KIND,
  NAMESPACE_KIND,
  NODE_KIND,
  PERSISTENT_VOLUME_CLAIM_KIND,
  POD_KIND,
  SECRET_KIND,
  SERVICE_ACCOUNT_KIND,
  SERVICE_KIND,
  CUSTOM_RESOURCE_DEFINITION_KIND,
  JOB_KIND,
  LEASE_KIND,
  ENDPOINT_SLICE_KIND,
  EVENT_KIND,
  POD_GROUP_KIND,
  WORKLOAD_KIND,
  ...RBAC_KINDS,
  ...WEBHOOK_CONFIGURATION_KINDS,
];

/** Loads the objects of all built-in kinds. */
export async function openBuiltInKinds(
  storage: Storage,
  commits: CommitSequence,
): Promise<readonly ServedResource[]> {
  const collections = new Map<string, Collection>();
  const served: ServedResource[] = [];
  for (const kind of BUILT_IN_KINDS) {
    const stored = kind.storedAs?.resource ?? kind.resource;
    const name = collectionName(stored);
    const collection = collections.get(name) ?? (await Collection.open(stored, storage, commits));
    collections.set(name, collection);
    served.push(servedBuiltIn(kind, collection));
  }
  return served;
}

function collectionName(of: Resource): string {
  return `${apiVersionOf(of)}/${of.plural}`;
}
