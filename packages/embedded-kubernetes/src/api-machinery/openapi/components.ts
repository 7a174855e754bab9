/**
 * The `components.schemas` of an OpenAPI v3 document. A schema with a title is published once,
 * under that name, and referred to wherever else it occurs; so documents stay small, schemas may
 * refer to themselves, and `kubectl explain` shows the names of types.
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import { list, object, string } from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { KIND_DEFINITIONS } from '../kind-schemas/kind-definitions.ts';
import type { PublishedResource } from './published-resource.ts';

/** Names and published forms of all schemas that objects and lists of `resources` consist of. */
export function componentsOf(
  resources: readonly PublishedResource[],
): Readonly<Record<string, JsonObject>> {
  const components = new Map<string, JsonObject>();
  for (const of of resources) {
    const { group, version } = of;
    const kinds = [
      [componentName(of), of.schema, of.kind],
      [`${componentName(of)}List`, listSchema(of), of.listKind],
    ] as const;
    for (const [name, schema, kind] of kinds) {
      components.set(name, {
        ...publishedBody(schema, components),
        'x-kubernetes-group-version-kind': [{ group, kind, version }],
      });
    }
  }
  return Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** `io.k8s.api.core.v1.Pod`, and `io.x-k8s.jobset.v1alpha2.JobSet` for what has no title. */
export function componentName({ group, version, kind, schema }: PublishedResource): string {
  if (schema.title !== undefined) return schema.title;
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

export function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function listSchema(of: PublishedResource): JsonSchema {
  const properties = {
    apiVersion: string(apiVersionOf(of)),
    kind: string(of.listKind),
    metadata: KIND_DEFINITIONS.get('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta'),
    items: list({ ...of.schema, title: componentName(of) }),
  };
  return object(properties, { required: ['items'], description: `A list of ${of.kind} objects.` });
}

/** A schema where it is used: by reference, if it has a name. */
function published(schema: JsonSchema, components: Map<string, JsonObject>): JsonObject {
  const { title, description, default: value } = schema;
  if (title === undefined) return publishedBody(schema, components);
  if (!components.has(title)) {
    // Set before its body is walked, which may refer to it.
    components.set(title, {});
    components.set(title, publishedBody(schema, components));
  }
  if (description === undefined && value === undefined) return reference(title);
  return {
    allOf: [reference(title)],
    ...defined({ description, default: value }),
  };
}

function publishedBody(schema: JsonSchema, components: Map<string, JsonObject>): JsonObject {
  const { title: _title, properties, items, additionalProperties, ...rest } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) {
    return { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string', ...rest };
  }
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: publishedMap(properties, components) }),
    ...(items === undefined ? {} : { items: published(items, components) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: published(additionalProperties, components) }
      : additionalProperties === undefined
        ? {}
        : { additionalProperties }),
  };
}

function publishedMap(
  schemas: Readonly<Record<string, JsonSchema>>,
  components: Map<string, JsonObject>,
): JsonObject {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, published(schema, components)]),
  );
}
