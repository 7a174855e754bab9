/** Definitions of custom resources: some that are refused, and the definition of the Widgets. */
import type { ScriptedRequest } from './scripted-request.ts';

export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const WIDGET_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.conformance.example.com' },
  spec: {
    group: 'conformance.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          {
            name: 'Ready',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="Ready")].status',
          },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, maximum: 9 },
                  color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
                  frozen: {
                    type: 'string',
                    'x-kubernetes-validations': [
                      { rule: 'self == oldSelf', message: 'Value is immutable' },
                    ],
                  },
                  parts: {
                    type: 'array',
                    maxItems: 3,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 5 },
                        count: { type: 'integer', default: 1 },
                      },
                    },
                  },
                  port: { 'x-kubernetes-int-or-string': true },
                  labels: { type: 'object', additionalProperties: { type: 'string' } },
                },
                'x-kubernetes-validations': [
                  {
                    rule: "self.color != 'blue' || self.size > 2",
                    message: 'blue needs a size of more than 2',
                  },
                ],
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};
function withSchema(name: string, openAPIV3Schema: object): object {
  const [version] = WIDGET_CRD.spec.versions;
  const plural = name.split('.')[0] ?? '';
  return {
    ...WIDGET_CRD,
    metadata: { name },
    spec: {
      ...WIDGET_CRD.spec,
      names: { plural, kind: `X${plural}` },
      versions: [{ ...version, additionalPrinterColumns: [], schema: { openAPIV3Schema } }],
    },
  };
}

/** Requests that come before the Widgets are served. */
export const DEFINITION_REQUESTS: readonly ScriptedRequest[] = [
  {
    name: 'a definition with mistakes',
    method: 'POST',
    path: CRDS,
    body: {
      ...WIDGET_CRD,
      metadata: { name: 'wrong.conformance.example.com' },
      spec: { ...WIDGET_CRD.spec, names: { plural: 'Widgets', kind: 'widget!' } },
    },
  },
  {
    name: 'a schema that is not structural',
    method: 'POST',
    path: CRDS,
    body: withSchema('unstructurals.conformance.example.com', {
      type: 'object',
      properties: { spec: { properties: { a: { type: 'number', default: 'x' } } } },
    }),
  },
  {
    name: 'a schema with a rule that does not compile',
    method: 'POST',
    path: CRDS,
    body: withSchema('rules.conformance.example.com', {
      type: 'object',
      properties: {
        spec: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.missing > 1' }] },
      },
    }),
  },
  {
    name: 'a schema with a rule that may cost too much',
    method: 'POST',
    path: CRDS,
    body: withSchema('costs.conformance.example.com', {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { names: { type: 'array', items: { type: 'string' } } },
          'x-kubernetes-validations': [{ rule: 'self.names.all(a, self.names.exists(b, a == b))' }],
        },
      },
    }),
  },
  { name: 'the Widgets', method: 'POST', path: CRDS, body: WIDGET_CRD },
];
