/**
 * A CustomResourceDefinition leaves out what every object has. This spells it out, so that the
 * engine needs no special case: at the root and in every embedded resource, `apiVersion` and `kind`
 * are strings and `metadata` is object metadata, with the restrictions of names that the schema
 * may hold.
 */
import { string } from '../schema/builders.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { OBJECT_META } from './pod-definitions.ts';

/** The schema by which whole custom resources are pruned, defaulted and validated. */
export function resourceSchema(schema: JsonSchema): JsonSchema {
  return withObjectFields(embeddedIn(schema));
}

function withObjectFields(schema: JsonSchema): JsonSchema {
  const { properties = {} } = schema;
  return {
    ...schema,
    properties: {
      ...properties,
      apiVersion: properties['apiVersion'] ?? string(),
      kind: properties['kind'] ?? string(),
      metadata: restrictedMetadata(properties['metadata']),
    },
  };
}

function restrictedMetadata(restrictions: JsonSchema | undefined): JsonSchema {
  const { name, generateName } = restrictions?.properties ?? {};
  if (name === undefined && generateName === undefined) return OBJECT_META;
  return {
    ...OBJECT_META,
    properties: {
      ...OBJECT_META.properties,
      ...(name === undefined ? {} : { name }),
      ...(generateName === undefined ? {} : { generateName }),
    },
  };
}

/** Completes every embedded resource below the schema. */
function embeddedIn(schema: JsonSchema): JsonSchema {
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: mapProperties(properties) }),
    ...(items === undefined ? {} : { items: completed(items) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: completed(additionalProperties) }
      : {}),
  };
}

function mapProperties(
  properties: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, completed(property)]),
  );
}

function completed(schema: JsonSchema): JsonSchema {
  const inner = embeddedIn(schema);
  if (schema['x-kubernetes-embedded-resource'] !== true) return inner;
  const required = new Set([...(schema.required ?? []), 'apiVersion', 'kind']);
  return { ...withObjectFields(inner), required: [...required] };
}
