/** The whole installation as objects, and as a YAML file. */

import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { stringify } from 'yaml';
import { JOBSET_CRD } from '../jobset/schema/crd.ts';
import { agentPolicy } from './agent-policy.ts';
import { apiPriority } from './api-priority.ts';
import { monitoring } from './monitoring.ts';
import { namespaceObject, operatorDeployment } from './operator-deployment.ts';
import { permissions } from './permissions.ts';
import { type InstallationSettings, type Installed, installed } from './settings.ts';
import { webhookRegistration } from './webhook-registration.ts';

/**
 * All objects in the order in which they have to be created: objects come before those that refer
 * to them, and the webhooks last, when something can answer them.
 */
export function manifest(settings: InstallationSettings): readonly Installed[] {
  const { metadata, spec } = JOBSET_CRD;
  return [
    namespaceObject(settings),
    ...(settings.definition ? [installed(CUSTOM_RESOURCE_DEFINITIONS, metadata, { spec })] : []),
    ...permissions(settings),
    ...agentPolicy(),
    ...apiPriority(settings),
    ...operatorDeployment(settings),
    ...(settings.webhooks ? webhookRegistration(settings) : []),
    ...(settings.monitoring ? monitoring(settings) : []),
  ];
}

/** The objects as one file for `kubectl apply`. */
export function manifestYaml(objects: readonly Installed[]): string {
  return objects
    .map(({ object }) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}
