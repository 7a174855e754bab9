/** Schemas of all kinds that the API server has without a CustomResourceDefinition. */
import { POD_DEFINITIONS } from '@lockstep/kube/pod-schema/pod-definitions.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { anything, nullable } from '@lockstep/kube/schema/builders.ts';
import { Definitions, type OpaqueTypes } from '@lockstep/kube/schema/definitions.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { KIND_AMENDMENTS } from './kind-amendments.ts';
import { KIND_DEFINITION_TEXTS } from './kind-definitions.generated.ts';

const SCHEMA = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';

/** What a CustomResourceDefinition may hold in place of a schema, as far as structural schemas go. */
const SCHEMA_VARIANTS: OpaqueTypes = {
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': () => nullable(anything()),
  // One schema for all items; a list of them is not structural.
  [`${SCHEMA}OrArray`]: (definitions) => definitions.get(SCHEMA),
  [`${SCHEMA}OrBool`]: (definitions) => ({
    title: `${SCHEMA}OrBool`,
    oneOf: [{ type: 'object' }, { type: 'boolean' }],
    // Asked for later: a schema contains this.
    get properties() {
      return definitions.get(SCHEMA).properties ?? {};
    },
  }),
  [`${SCHEMA}OrStringArray`]: () => anything(),
};

export const KIND_DEFINITIONS = new Definitions({
  texts: KIND_DEFINITION_TEXTS,
  amendments: KIND_AMENDMENTS,
  opaque: SCHEMA_VARIANTS,
  base: POD_DEFINITIONS,
});

/** The schema of whole objects of a built-in kind; throws for a kind that is not built in. */
export function kindSchema({
  group,
  version,
  kind,
}: Pick<Resource, 'group' | 'version' | 'kind'>): JsonSchema {
  const [name = ''] = group.split('.');
  const of = PACKAGES[name] ?? `io.k8s.api.${name}`;
  return KIND_DEFINITIONS.get(`${of}.${version}.${kind}`);
}

/** Where the types of a group are that are not found by the first part of its name. */
const PACKAGES: Readonly<Record<string, string>> = {
  '': 'io.k8s.api.core',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
};
