/**
 * Templates of Jobs and claims in the definition of JobSet: types, required fields and bounds, and
 * fixed values only where Lockstep itself acts on them. The API server that gets the Job judges all
 * other values. It may be newer than the tables from which our schemas come.
 */
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';

/** Fields with fixed values, by the title of their object. Upstream's definition fixes none. */
const ACTED_ON: Readonly<Record<string, readonly string[]>> = {
  'io.k8s.api.batch.v1.JobSpec': ['completionMode'],
  'io.k8s.api.core.v1.PodSpec': ['restartPolicy'],
  'io.k8s.api.core.v1.Container': ['restartPolicy'],
  'io.k8s.api.core.v1.ContainerRestartRule': ['action'],
  'io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes': ['operator'],
};

/** `schema` without fixed values of fields on which Lockstep does not act. */
export function withOpenValues(schema: JsonSchema): JsonSchema {
  const { enum: _values, properties, items, additionalProperties, ...rest } = schema;
  const { title = '', required = [] } = schema;
  const kept = ACTED_ON[title] ?? [];
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => {
          if (!kept.includes(name)) return [name, withOpenValues(property)];
          return [name, required.includes(name) ? property : orEmpty(property)];
        }),
      ),
    }),
    ...(items && { items: withOpenValues(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object'
          ? withOpenValues(additionalProperties)
          : additionalProperties,
    }),
  };
}

/** Clients may send a missing text as an empty one. */
function orEmpty(schema: JsonSchema): JsonSchema {
  return schema.enum === undefined ? schema : { ...schema, enum: ['', ...schema.enum] };
}
