/**
 * The record of the operator's replicas about its settings, in a ConfigMap of its namespace: the last
 * file that was right, and whose turn it is to restart.
 */

import { isJsonObject, ownMember } from '@lockstep/kube/json/json-value.ts';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS, type ConfigMap } from '@lockstep/kube/objects/core.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { SETTINGS_RECORD_NAME } from '../configuration/object-names.ts';
import type { RestartRecord } from './restart-turn.ts';

export interface SettingsRecord extends RestartRecord {
  /** The text of the file with which the leader runs. */
  readonly lastGood?: string | undefined;
}

const LAST_GOOD = 'last-good.yaml';
const REPLICAS = 'replicas.json';
/** Replicas write seldom, so that more conflicts than this have another reason. */
const MAX_ATTEMPTS = 5;

export async function readSettingsRecord(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<SettingsRecord> {
  return recordIn(await stored(client, namespace, signal));
}

/**
 * Writes the result of `change` for the newest record, unless it is the same. `change` may be called
 * again; it gives up by returning undefined. Returns whether the record has the change.
 */
export async function changeSettingsRecord(
  client: Client,
  namespace: string,
  signal: AbortSignal,
  change: (record: SettingsRecord) => SettingsRecord | undefined,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const found = await stored(client, namespace, signal);
    const record = recordIn(found);
    const next = change(record);
    if (next === undefined) return false;
    const data = dataOf(next);
    if (found !== undefined && JSON.stringify(data) === JSON.stringify(dataOf(record))) return true;
    const metadata = found?.metadata ?? { namespace, name: SETTINGS_RECORD_NAME };
    const head = typeMetaOf(CONFIG_MAPS);
    try {
      if (found === undefined)
        await client.create(CONFIG_MAPS, { ...head, metadata, data }, { signal });
      else await client.update(CONFIG_MAPS, { ...found, ...head, data }, { signal });
      return true;
    } catch (error) {
      const isRace = isReason(error, 'Conflict', 'AlreadyExists', 'NotFound');
      if (!isRace || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function stored(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<Stored<ConfigMap> | undefined> {
  const at = { namespace, name: SETTINGS_RECORD_NAME };
  return unlessGone(client.get(CONFIG_MAPS, at, { signal }));
}

/** A part that cannot be read counts as absent: anyone may have edited it. */
function recordIn(found: ConfigMap | undefined): SettingsRecord {
  const data = found?.data ?? {};
  const lastGood = ownMember(data, LAST_GOOD);
  const { turn, runs } = parsedObject(ownMember(data, REPLICAS) ?? '') ?? {};
  const known = Object.entries(isJsonObject(runs) ? runs : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    lastGood,
    turn: typeof turn === 'string' ? turn : undefined,
    runs: Object.fromEntries(known),
  };
}

function dataOf({ lastGood, turn, runs }: SettingsRecord): NonNullable<ConfigMap['data']> {
  return {
    ...(lastGood === undefined ? {} : { [LAST_GOOD]: lastGood }),
    [REPLICAS]: JSON.stringify({ turn, runs }),
  };
}
