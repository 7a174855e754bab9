/** The OpenAPI v3 documents that Kubernetes publishes with its source. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The keywords that the documents use for the types of the API. */
export interface PublishedSchema {
  readonly $ref?: string;
  readonly allOf?: readonly PublishedSchema[];
  readonly oneOf?: readonly PublishedSchema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, PublishedSchema>>;
  readonly required?: readonly string[];
  readonly items?: PublishedSchema;
  readonly additionalProperties?: PublishedSchema;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-group-version-kind'?: unknown;
  readonly 'x-kubernetes-unions'?: unknown;
}

export type Published = ReadonlyMap<string, PublishedSchema>;

/** All definitions of the documents in `directory`, by name. */
export function readPublished(directory: string): Published {
  const found = new Map<string, PublishedSchema>();
  for (const file of readdirSync(directory).sort()) {
    const { components } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as {
      readonly components?: { readonly schemas?: Readonly<Record<string, PublishedSchema>> };
    };
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) found.set(name, schema);
  }
  return found;
}

/** The name of the definition that `schema` stands for, if it refers to one. */
export function referenceIn({ $ref, allOf = [] }: PublishedSchema): string | undefined {
  const reference = $ref ?? allOf[0]?.$ref;
  return reference?.slice(reference.lastIndexOf('/') + 1);
}

/** The names of `roots` and of all definitions with members that they refer to, sorted. */
export function closureOf(published: Published, roots: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const visit = (schema: PublishedSchema | undefined): void => {
    if (schema === undefined) return;
    const name = referenceIn(schema);
    if (name !== undefined) visitName(name);
    visit(schema.items);
    visit(schema.additionalProperties);
  };
  const visitName = (name: string): void => {
    const schema = published.get(name);
    if (schema === undefined) throw new Error(`no document tells of ${name}`);
    if (schema.properties === undefined || found.has(name)) return;
    found.add(name);
    for (const property of Object.values(schema.properties)) visit(property);
  };
  for (const root of roots) visitName(root);
  return [...found].sort();
}
