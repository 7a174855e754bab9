import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { CustomResourceDefinition } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { expect, test } from 'vitest';
import {
  customResourceDefinitionErrors,
  customResourceDefinitionUpdateErrors,
  defaultCustomResourceDefinition,
} from './custom-resource-definition.ts';

const VERSION = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
};

function definitionOf(spec: JsonObject, name = 'things.example.com'): CustomResourceDefinition {
  const given = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [VERSION],
      ...spec,
    },
  };
  return defaultCustomResourceDefinition(given) as CustomResourceDefinition;
}

test('names that follow from others are filled in, and the stored version', () => {
  const { spec, status } = definitionOf({});
  expect(spec.names).toEqual({
    plural: 'things',
    kind: 'Thing',
    singular: 'thing',
    listKind: 'ThingList',
  });
  expect(spec.conversion).toEqual({ strategy: 'None' });
  expect(status?.storedVersions).toEqual(['v1']);
});

/** The texts come from a real API server, version 1.36. */
test.each<[name: string, definition: CustomResourceDefinition, problems: string[]]>([
  ['nothing wrong', definitionOf({}), []],
  [
    'another name',
    definitionOf({}, 'x.example.com'),
    ['metadata.name: Invalid value: "x.example.com": must be spec.names.plural+"."+spec.group'],
  ],
  [
    'a group without a dot',
    definitionOf({ group: 'example' }, 'things.example'),
    ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
  ],
  [
    'no schema',
    definitionOf({ versions: [{ ...VERSION, schema: undefined }] }),
    ['spec.versions[0].schema.openAPIV3Schema: Required value'],
  ],
  [
    'a schema that is not structural',
    definitionOf({
      versions: [
        { ...VERSION, schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } },
      ],
    }),
    [
      'spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
    ],
  ],
  [
    'a list of the same name',
    definitionOf({ names: { plural: 'things', kind: 'Thing', listKind: 'Thing' } }),
    ['spec.names.listKind: Invalid value: "Thing": kind and listKind may not be the same'],
  ],
  [
    'a column of no type',
    definitionOf({
      versions: [
        { ...VERSION, additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.a' }] },
      ],
    }),
    [
      'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
    ],
  ],
])('a definition with %s', (_name, definition, problems) => {
  expect(customResourceDefinitionErrors(definition).map(formatFieldError)).toEqual(problems);
});

test('exactly one version is stored', () => {
  const twice = definitionOf({ versions: [VERSION, { ...VERSION, name: 'v2' }] });
  expect(customResourceDefinitionErrors(twice).map(({ field, detail }) => [field, detail])).toEqual(
    [
      ['spec.versions', 'must have exactly one version marked as storage version'],
      ['status.storedVersions', 'must have the storage version v2'],
    ],
  );
});

test('what names the stored objects never changes', () => {
  const after = definitionOf({ scope: 'Cluster', names: { plural: 'things', kind: 'Other' } });
  const fields = customResourceDefinitionUpdateErrors(after, definitionOf({})).map((e) => e.field);
  expect(fields).toEqual(['spec.scope', 'spec.names.kind']);
});
