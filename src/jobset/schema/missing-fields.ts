/** Which fields of the status a stored definition of JobSet does not have. */
import type { CustomResourceDefinition } from '@lockstep/kube/objects/custom-resource-definition.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { JOBSETS } from '../jobset.ts';
import { STATUS } from './status-schema.ts';

/**
 * Paths below `status`, such as `goodput` or `restartHistory[].suspects`. An API server drops these
 * fields from every write without a word. Parts of a field that is missing are not named.
 */
export function missingStatusFields({ spec }: CustomResourceDefinition): readonly string[] {
  const version = spec.versions.find(({ name }) => name === JOBSETS.version);
  return missingIn(version?.schema?.openAPIV3Schema?.properties?.['status'], STATUS, '');
}

/** The part of a definition that `missingStatusFields` reads: the rest is a hundred kilobytes. */
export function statusOnly({ spec }: CustomResourceDefinition): CustomResourceDefinition['spec'] {
  return {
    ...spec,
    versions: spec.versions.map(({ name, served, storage, schema }) => {
      const { status = {} } = schema?.openAPIV3Schema?.properties ?? {};
      return { name, served, storage, schema: { openAPIV3Schema: { properties: { status } } } };
    }),
  };
}

function missingIn(stored: JsonSchema | undefined, ours: JsonSchema, path: string): string[] {
  if (stored?.['x-kubernetes-preserve-unknown-fields'] === true) return [];
  if (ours.items !== undefined) return missingIn(stored?.items, ours.items, `${path}[]`);
  return Object.entries(ours.properties ?? {}).flatMap(([name, property]) => {
    const below = path === '' ? name : `${path}.${name}`;
    const known = stored?.properties?.[name];
    return known === undefined ? [below] : missingIn(known, property, below);
  });
}
