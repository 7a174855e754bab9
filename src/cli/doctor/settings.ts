/** The settings of the operator: those that differ from the defaults, and mistakes in them. */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { CONFIGURATION_FILE } from '../../deploy/operator-deployment.ts';
import { readConfiguration } from '../../operator/configuration/configuration.ts';
import { CONFIGURATION_NAME } from '../../operator/configuration/object-names.ts';
import { ALL_SETTINGS } from '../../operator/configuration/setting-values.ts';
import { type Asking, checkOf, type Fact, type Finding, fact, ifKnown } from './finding.ts';

const ABOUT = checkOf('Lockstep', 'settings');

/** The text of the file; undefined if there is no installation with one. */
export function readSettings(
  client: Client,
  asking: Asking,
  namespace: string,
): Promise<Fact<string | undefined>> {
  return fact(asking, 'get the configuration of the operator', async (signal) => {
    const at = { namespace, name: CONFIGURATION_NAME };
    const map = await unlessGone(client.get(CONFIG_MAPS, at, { signal }));
    return map?.data?.[CONFIGURATION_FILE];
  });
}

export function settingsFindings(
  read: Fact<string | undefined>,
  namespace: string,
): readonly Finding[] {
  return ifKnown(read, ABOUT, (text) => (text === undefined ? [] : [judged(text, namespace)]));
}

function judged(text: string, namespace: string): Finding {
  const parsed = readConfiguration(text);
  if ('problems' in parsed) {
    return ABOUT.problem(
      `the configuration is wrong, so the operator runs with the last one that was right: ${parsed.problems.join('; ')}`,
      `kubectl -n ${namespace} edit configmap ${CONFIGURATION_NAME}`,
    );
  }
  const differing = ALL_SETTINGS.flatMap(([name, setting]) => {
    const value = parsed.given[name];
    if (value === undefined || deepEqual(value, setting.default)) return [];
    return [`${setting.path} ${typeof value === 'string' ? value : JSON.stringify(value)}`];
  });
  if (differing.length === 0) return ABOUT.ok('all have their defaults');
  return ABOUT.ok(`not defaults: ${differing.join(', ')}`);
}
