import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { MUTATING_WEBHOOK_CONFIGURATIONS } from '@lockstep/kube/objects/admission-webhooks.ts';
import { applyDefaults } from '@lockstep/kube/schema/defaults.ts';
import { expect, test } from 'vitest';
import { kindSchema } from '../kind-schemas/kind-definitions.ts';
import {
  defaultWebhookConfiguration,
  type WebhookConfiguration,
  webhookConfigurationErrors,
} from './webhook-configuration.ts';

const RULE = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };

const VALID = {
  name: 'a.example.com',
  clientConfig: { url: 'https://localhost:8443/x' },
  rules: [RULE],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};

/** A configuration with defaults filled in, as the server validates it. */
function configurationOf(...webhooks: readonly JsonObject[]): WebhookConfiguration {
  const given = { apiVersion: 'v1', kind: 'x', metadata: { name: 'c' }, webhooks };
  const schema = kindSchema(MUTATING_WEBHOOK_CONFIGURATIONS);
  return applyDefaults(schema, defaultWebhookConfiguration(given)) as WebhookConfiguration;
}

function problems(...webhooks: readonly JsonObject[]): readonly string[] {
  return webhookConfigurationErrors(configurationOf(...webhooks)).map(formatFieldError);
}

test('a webhook gets the defaults of the original server', () => {
  const service = { namespace: 'n', name: 's' };
  const { webhooks } = configurationOf({ ...VALID, clientConfig: { service } });
  expect(webhooks).toEqual([
    {
      ...VALID,
      clientConfig: { service: { ...service, port: 443 } },
      rules: [{ ...RULE, scope: '*' }],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      reinvocationPolicy: 'Never',
      timeoutSeconds: 10,
    },
  ]);
});

const CONFIG = 'clientConfig: Required value: exactly one of url or service is required';
const FORM = '; desired format: https://host[/path]';

test.each<[members: JsonObject, expected: readonly string[]]>([
  [{}, []],
  [{ name: '' }, ['name: Required value']],
  [
    { name: 'short.com' },
    [
      'name: Invalid value: "short.com": should be a domain with at least three segments separated by dots',
    ],
  ],
  [{ clientConfig: {} }, [CONFIG]],
  [{ clientConfig: { url: 'https://a', service: { namespace: 'n', name: 's' } } }, [CONFIG]],
  [
    { clientConfig: { url: 'http://host/x' } },
    [`clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${FORM}`],
  ],
  [
    { clientConfig: { url: 'host/x' } },
    [
      `clientConfig.url: Invalid value: "": 'https' is the only allowed URL scheme${FORM}`,
      `clientConfig.url: Invalid value: "": host must be specified${FORM}`,
    ],
  ],
  [
    { clientConfig: { url: 'https://me:secret@host/x?a=b#c' } },
    [
      'clientConfig.url: Invalid value: "me:secret": user information is not permitted in the URL',
      'clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
      'clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
    ],
  ],
  [
    { clientConfig: { url: 'https://host:99999/' } },
    [
      `clientConfig.url: Required value: url must be a valid URL: parse "https://host:99999/": invalid URL${FORM}`,
    ],
  ],
  [
    { clientConfig: { url: 'https://host/%zz' } },
    [
      `clientConfig.url: Required value: url must be a valid URL: parse "https://host/%zz": invalid URL escape "%zz"${FORM}`,
    ],
  ],
  [
    { clientConfig: { service: { namespace: '', name: '', port: 0, path: 'a//b' } } },
    [
      'clientConfig.service.name: Required value',
      'clientConfig.service.namespace: Required value',
      'clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
      'clientConfig.service.path: Invalid value: "a//b": must start with a \'/\'',
      'clientConfig.service.path: Invalid value: "a//b": segment[0] may not be empty',
      'clientConfig.service.path: Invalid value: "a//b": segment[1] may not be empty',
    ],
  ],
  [
    { rules: [{}] },
    [
      'rules[0].operations: Required value',
      'rules[0].apiGroups: Required value',
      'rules[0].apiVersions: Required value',
      'rules[0].resources: Required value',
    ],
  ],
  [
    { rules: [{ ...RULE, operations: ['*', 'CREATE', 'READ'], apiVersions: ['*', ''] }] },
    [
      'rules[0].operations: Invalid value: ["*","CREATE","READ"]: if \'*\' is present, must not specify other operations',
      'rules[0].operations[2]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
      'rules[0].apiVersions: Invalid value: ["*",""]: if \'*\' is present, must not specify other API versions',
      'rules[0].apiVersions[1]: Required value',
    ],
  ],
  [{ rules: [{ ...RULE, resources: ['pods', 'pods/*', '*/status'] }] }, []],
  [
    { rules: [{ ...RULE, resources: ['pods/*', 'pods/status', '*/scale', 'jobs/scale'] }] },
    [
      'rules[0].resources[1]: Invalid value: "pods/status": if \'pods/*\' is present, must not specify pods/status',
      'rules[0].resources[3]: Invalid value: "jobs/scale": if \'*/scale\' is present, must not specify jobs/scale',
    ],
  ],
  [
    { rules: [{ ...RULE, resources: ['*', 'pods', '*/*'], scope: 'Some' }] },
    [
      'rules[0].resources: Invalid value: ["*","pods","*/*"]: if \'*/*\' is present, must not specify other resources',
      'rules[0].resources: Invalid value: ["*","pods","*/*"]: if \'*\' is present, must not specify other resources without subresources',
      'rules[0].scope: Unsupported value: "Some": supported values: "*", "Cluster", "Namespaced"',
    ],
  ],
  [
    { failurePolicy: 'x', matchPolicy: 'y', reinvocationPolicy: 'z', sideEffects: 'Some' },
    [
      'failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"',
      'matchPolicy: Unsupported value: "y": supported values: "Equivalent", "Exact"',
      'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
      'reinvocationPolicy: Unsupported value: "z": supported values: "IfNeeded", "Never"',
    ],
  ],
  [
    { sideEffects: '', admissionReviewVersions: [] },
    [
      'sideEffects: Required value: must specify one of None, NoneOnDryRun',
      'admissionReviewVersions: Required value: must specify one of v1, v1beta1',
    ],
  ],
  [
    { admissionReviewVersions: ['v7', 'v7'] },
    [
      'admissionReviewVersions[1]: Invalid value: "v7": duplicate version',
      'admissionReviewVersions: Invalid value: ["v7","v7"]: must include at least one of v1, v1beta1',
    ],
  ],
  [
    { timeoutSeconds: 31 },
    ['timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
  ],
  [
    {
      namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
      objectSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
    },
    [
      "namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "objectSelector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  ],
  [
    { matchConditions: [{ name: 'a', expression: 'true' }, { name: 'a', expression: ' ' }, {}] },
    [
      'matchConditions[1].expression: Required value',
      'matchConditions[1].name: Duplicate value: "a"',
      'matchConditions[2].expression: Required value',
      'matchConditions[2].name: Required value',
    ],
  ],
  [
    { matchConditions: [{ name: 'a', expression: '1 + 1' }] },
    ['matchConditions[0].expression: Invalid value: "1 + 1": must evaluate to bool but got int'],
  ],
  [
    {
      matchConditions: Array.from({ length: 65 }, (_, at) => ({
        name: `c${at}`,
        expression: 'true',
      })),
    },
    ['matchConditions: Too many: 65: must have at most 64 items'],
  ],
])('a webhook with %j', (members, expected) => {
  expect(problems({ ...VALID, ...members })).toEqual(
    expected.map((problem) => `webhooks[0].${problem}`),
  );
});

test('an expression that cannot be compiled is shown with its place', () => {
  const expression = 'request.operatoin == "CREATE"';
  const [problem] = problems({ ...VALID, matchConditions: [{ name: 'a', expression }] });
  expect(problem).toContain("compilation failed: ERROR: <input>:1:8: undefined field 'operatoin'");
});

test('two webhooks of one name', () => {
  expect(problems(VALID, VALID)).toEqual(['webhooks[1].name: Duplicate value: "a.example.com"']);
});
