/**
 * The schema of the schemas inside a CustomResourceDefinition. It refers to itself, so code that
 * walks it must follow a value, as pruning and validation do, or stop at the title.
 */
import {
  anything,
  atomicList,
  boolean,
  definitions,
  int64,
  listMap,
  map,
  mergedBy,
  nullable,
  number,
  oneOf,
  string,
} from '../../kube/schema/builders.ts';
import type { JsonSchema } from '../../kube/schema/json-schema.ts';

const apiextensions = definitions('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1');

const VALIDATION_RULE = apiextensions(
  'ValidationRule',
  {
    rule: string(),
    message: string(),
    messageExpression: string(),
    reason: string(),
    fieldPath: string(),
    optionalOldSelf: boolean(),
  },
  { required: ['rule'] },
);

const EXTERNAL_DOCUMENTATION = apiextensions('ExternalDocumentation', {
  description: string(),
  url: string(),
});

/** Members that hold no further schema. */
const PLAIN_MEMBERS = {
  id: string(),
  $schema: string(),
  $ref: string(),
  title: string(),
  description: string(),
  type: string(),
  format: string(),
  nullable: boolean(),
  default: nullable(anything()),
  example: nullable(anything()),
  enum: atomicList(nullable(anything())),
  required: atomicList(string()),
  maximum: number(),
  exclusiveMaximum: boolean(),
  minimum: number(),
  exclusiveMinimum: boolean(),
  multipleOf: number(),
  maxLength: int64(),
  minLength: int64(),
  pattern: string(),
  maxItems: int64(),
  minItems: int64(),
  uniqueItems: boolean(),
  maxProperties: int64(),
  minProperties: int64(),
  externalDocs: EXTERNAL_DOCUMENTATION,
  'x-kubernetes-preserve-unknown-fields': boolean(),
  'x-kubernetes-embedded-resource': boolean(),
  'x-kubernetes-int-or-string': boolean(),
  'x-kubernetes-list-type': oneOf(['atomic', 'set', 'map']),
  'x-kubernetes-list-map-keys': atomicList(string()),
  'x-kubernetes-map-type': oneOf(['atomic', 'granular']),
  'x-kubernetes-validations': mergedBy('rule', listMap(['rule'], VALIDATION_RULE)),
};

export const JSON_SCHEMA_PROPS: JsonSchema = apiextensions('JSONSchemaProps', {
  ...PLAIN_MEMBERS,
  get items(): JsonSchema {
    return JSON_SCHEMA_PROPS;
  },
  get not(): JsonSchema {
    return JSON_SCHEMA_PROPS;
  },
  get additionalProperties(): JsonSchema {
    return JSON_SCHEMA_PROPS_OR_BOOL;
  },
  get properties(): JsonSchema {
    return map(JSON_SCHEMA_PROPS);
  },
  get patternProperties(): JsonSchema {
    return map(JSON_SCHEMA_PROPS);
  },
  get definitions(): JsonSchema {
    return map(JSON_SCHEMA_PROPS);
  },
  get allOf(): JsonSchema {
    return atomicList(JSON_SCHEMA_PROPS);
  },
  get anyOf(): JsonSchema {
    return atomicList(JSON_SCHEMA_PROPS);
  },
  get oneOf(): JsonSchema {
    return atomicList(JSON_SCHEMA_PROPS);
  },
  additionalItems: anything(),
  dependencies: map(anything()),
});

/** A schema for the values of a map, or `true` for a map of anything. */
const JSON_SCHEMA_PROPS_OR_BOOL: JsonSchema = {
  title: `${JSON_SCHEMA_PROPS.title}OrBool`,
  oneOf: [{ type: 'object' }, { type: 'boolean' }],
  get properties() {
    return JSON_SCHEMA_PROPS.properties ?? {};
  },
};
