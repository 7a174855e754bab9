/** The schema of `config.jobset.x-k8s.io/v1alpha1 Configuration`, with Lockstep's own keys. */
import { object, oneOf } from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import type { Setting } from './setting-types.ts';
import { SETTINGS } from './settings.ts';

export const CONFIGURATION_HEAD = {
  apiVersion: 'config.jobset.x-k8s.io/v1alpha1',
  kind: 'Configuration',
} as const;

/** The sections of a file with these settings, without its head. */
export function sectionsOf(settings: Iterable<Setting>): Readonly<Record<string, JsonSchema>> {
  const sections: Sections = {};
  for (const { path, type, help } of settings) {
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    let at = sections;
    for (const step of steps) {
      at[step] ??= object({});
      at = at[step].properties as Sections;
    }
    at[last] = { ...type.schema, description: help };
  }
  return sections;
}

/** Made here alone, and changed only while it is made. */
type Sections = Record<string, JsonSchema>;

export const CONFIGURATION_SCHEMA = object(
  {
    apiVersion: oneOf([CONFIGURATION_HEAD.apiVersion]),
    kind: oneOf([CONFIGURATION_HEAD.kind]),
    ...sectionsOf(Object.values(SETTINGS)),
  },
  { required: ['apiVersion', 'kind'] },
);
