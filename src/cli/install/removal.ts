/** Deletes objects of an installation. */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import type { Installed } from '../../deploy/settings.ts';
import type { CommandContext } from './command-context.ts';
import { isOurDefinition, isOurs, keyOf, titleOf } from './objects.ts';

export type Removal = 'Removed' | 'Absent' | 'NotOurs';

/** Deletes an object, or says that it would; an object that only has its name stays. */
export async function remove(
  context: CommandContext,
  installed: Installed,
  options: { readonly dryRun: boolean; readonly along?: string },
): Promise<Removal> {
  const { client, signal, print } = context;
  const { of, object } = installed;
  const found = await readInstalled(context, installed);
  if (found === undefined) return 'Absent';
  if (!isOwn(installed, found)) {
    print(`${titleOf(object)} stays: it does not belong to Lockstep`);
    return 'NotOurs';
  }
  if (!options.dryRun) {
    const how = { propagationPolicy: 'Background', signal } as const;
    await unlessGone(client.delete(of, keyOf(object), how));
  }
  const said = options.dryRun ? 'would be deleted' : 'deleted';
  print(`${titleOf(object)} ${said}${options.along ?? ''}`);
  return 'Removed';
}

export function isOwn({ of }: Installed, found: KubeObject): boolean {
  if (of.kind !== CUSTOM_RESOURCE_DEFINITIONS.kind) return isOurs(found);
  // The object was read by its own resource.
  return isOurDefinition(found as CustomResourceDefinition);
}

export function readInstalled(
  { client, signal }: CommandContext,
  { of, object }: Installed,
): Promise<Stored<KubeObject> | undefined> {
  return unlessGone(client.get(of, keyOf(object), { signal }));
}
