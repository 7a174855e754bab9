/** Reads the ConfigMaps, Secrets and claims that a Pod names. */

import type { KubeObject } from '@lockstep/kube/meta.ts';
import {
  CONFIG_MAPS,
  type ConfigMap,
  PERSISTENT_VOLUME_CLAIMS,
  type PersistentVolumeClaim,
  SECRETS,
  type Secret,
} from '@lockstep/kube/objects/core.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { isReason } from '@lockstep/kube/status.ts';
import type { ConfigurationNames, ConfigurationSource } from './configuration-source.ts';

/** Objects that do not exist are absent from the source; other failures reject. */
export async function readConfiguration(
  client: Client,
  namespace: string,
  names: ConfigurationNames,
  signal: AbortSignal,
): Promise<ConfigurationSource> {
  const read = async <T extends KubeObject>(
    of: Resource<T>,
    wanted: readonly string[],
  ): Promise<ReadonlyMap<string, T>> => {
    const found = new Map<string, T>();
    await Promise.all(
      wanted.map(async (name) => {
        try {
          found.set(name, await client.get(of, { namespace, name }, { signal }));
        } catch (error) {
          if (!isReason(error, 'NotFound')) throw error;
        }
      }),
    );
    return found;
  };
  const [configMaps, secrets, claims] = await Promise.all([
    read<ConfigMap>(CONFIG_MAPS, names.configMaps),
    read<Secret>(SECRETS, names.secrets),
    read<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, names.claims),
  ]);
  return {
    configMap: (name) => configMaps.get(name),
    secret: (name) => secrets.get(name),
    claim: (name) => claims.get(name),
  };
}
