/**
 * The values of the chart: name, default, what is allowed and what it means. From this come
 * `values.yaml`, its schema and the tables of the documentation.
 */

import { object } from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { OPERATOR_REPLICAS, OPERATOR_RESOURCES } from '../../src/deploy/operator-deployment.ts';
import { defaultSettings } from '../../src/deploy/settings.ts';
import { sectionsOf } from '../../src/operator/configuration/configuration-schema.ts';
import { MAX_NAMESPACES } from '../../src/operator/configuration/flag-values.ts';
import { defaultAgentImage } from '../../src/operator/configuration/object-names.ts';
import { SETTINGS } from '../../src/operator/configuration/settings.ts';
import { CHART_SETTINGS } from './configuration-template.ts';

interface Value {
  /** With dots between the steps of the path. */
  readonly name: string;
  readonly initial: unknown;
  /** A JSON schema. */
  readonly schema: object;
  readonly meaning: string;
  /** The flag of `lockstep install` that sets it. */
  readonly flag?: string;
}

const MAX_REPLICAS = 5;
const MAX_LABEL_CHARACTERS = 63;

/** Whole amounts only, so that a template can compare them. */
export const MEMORY_PATTERN = '^([1-9][0-9]{0,5}(Mi|Gi))?$';
const QUANTITY_PATTERN = '^[0-9]+(\\.[0-9]+)?(m|k|M|G|Ki|Mi|Gi)?$';
const NAMESPACE_PATTERN = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$';
const REPOSITORY_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._:/-]*$';
const REGISTRY_PATTERN = '^([A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9._-]+)*)?$';
const TAG_PATTERN = '^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$';
const DIGEST_PATTERN = '^(sha256:[a-f0-9]{64})?$';

const DEFAULTS = defaultSettings(packageJson.version);

export const VALUES: readonly Value[] = [
  ...image('operatorImage', '--operator-image', DEFAULTS.operatorImage, 'the operator'),
  ...image(
    'agentImage',
    '--agent-image',
    defaultAgentImage(packageJson.version),
    'injected agents',
  ),
  {
    name: 'maxStreams',
    initial: SETTINGS.maxStreams.default,
    schema: plainSchema(SETTINGS.maxStreams.type.schema),
    meaning: 'Agents that the hub serves at a time.',
    flag: SETTINGS.maxStreams.flag,
  },
  {
    name: 'configuration',
    initial: {},
    schema: plainSchema(object(sectionsOf(CHART_SETTINGS))),
    meaning:
      'All other settings of the operator, as in its Configuration file, such as {agent: {mode: Supervisor}}. Settings that are not here have their defaults.',
    flag: '--config',
  },
  {
    name: 'operatorMemory',
    initial: '',
    schema: { type: 'string', pattern: MEMORY_PATTERN },
    meaning: `Memory limit of the operator, in Mi or Gi. Empty: what maxStreams needs, ${DEFAULTS.operatorMemory} by default. Less is refused.`,
    flag: '--operator-memory',
  },
  {
    name: 'webhooks',
    initial: DEFAULTS.webhooks,
    schema: { type: 'boolean' },
    meaning: 'Whether API servers ask the operator about JobSets and their Pods.',
    flag: '--webhooks',
  },
  {
    name: 'onlyManaged',
    initial: DEFAULTS.onlyManaged,
    schema: { type: 'boolean' },
    meaning:
      "Whether to run beside upstream's controller, and act only on JobSets with spec.managedBy lockstep/jobset-controller. Needs webhooks, and installs no definition.",
    flag: '--only-managed',
  },
  {
    name: 'monitoring',
    initial: DEFAULTS.monitoring,
    schema: { type: 'boolean' },
    meaning: 'Whether to add a ServiceMonitor and alert rules. Needs the Prometheus operator.',
    flag: '--monitoring',
  },
  {
    name: 'networkPolicy',
    initial: DEFAULTS.networkPolicy,
    schema: { type: 'boolean' },
    meaning: 'Whether to add a NetworkPolicy that limits who may reach the operator.',
    flag: '--network-policy',
  },
  {
    name: 'watchNamespaces',
    initial: DEFAULTS.watchNamespaces,
    schema: {
      type: 'array',
      maxItems: MAX_NAMESPACES,
      uniqueItems: true,
      items: { type: 'string', pattern: NAMESPACE_PATTERN, maxLength: MAX_LABEL_CHARACTERS },
    },
    meaning:
      'Namespaces to which the operator and its rights are confined. They must exist. Empty: all namespaces.',
    flag: '--watch-namespace',
  },
  {
    name: 'replicas',
    initial: OPERATOR_REPLICAS,
    schema: { type: 'integer', minimum: OPERATOR_REPLICAS, maximum: MAX_REPLICAS },
    meaning: `Replicas of the operator, ${OPERATOR_REPLICAS} to ${MAX_REPLICAS}. One leads, and the others stand by.`,
  },
  ...(
    [
      [
        'resources.requests.cpu',
        OPERATOR_RESOURCES.requests.cpu,
        'CPU that each replica requests.',
      ],
      [
        'resources.requests.memory',
        OPERATOR_RESOURCES.requests.memory,
        'Memory that each replica requests. operatorMemory is its limit.',
      ],
      ['resources.limits.cpu', OPERATOR_RESOURCES.limits.cpu, 'CPU limit of each replica.'],
    ] as const
  ).map(([name, initial, meaning]) => ({
    name,
    initial,
    schema: { type: 'string', pattern: QUANTITY_PATTERN },
    meaning,
  })),
  {
    name: 'registry',
    initial: '',
    schema: { type: 'string', pattern: REGISTRY_PATTERN },
    meaning:
      'Registry, and perhaps a path, before the repositories of both images, such as registry.example.com/mirror.',
    flag: '--registry',
  },
  {
    name: 'imagePullSecrets',
    initial: [],
    schema: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string', minLength: 1 } },
        required: ['name'],
        additionalProperties: false,
      },
    },
    meaning:
      "Secrets for the registry of the operator's image, such as [{name: registry}]. Agents use the secrets of the workers' Pods.",
    flag: '--image-pull-secret',
  },
  {
    name: 'priorityClassName',
    initial: '',
    schema: { type: 'string' },
    meaning: "PriorityClass of the operator's Pods.",
  },
  {
    name: 'nodeSelector',
    initial: {},
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    meaning: "Labels of the nodes on which the operator's Pods run.",
  },
  {
    name: 'affinity',
    initial: {},
    schema: { type: 'object' },
    meaning: "Affinity of the operator's Pods.",
  },
  {
    name: 'tolerations',
    initial: [],
    schema: { type: 'array', items: { type: 'object' } },
    meaning: "Tolerations of the operator's Pods.",
  },
];

/** Helm knows no formats of Kubernetes, and refuses what no schema names. */
function plainSchema({ format: _format, properties, ...schema }: JsonSchema): JsonSchema {
  if (properties === undefined) return schema;
  const known = Object.entries(properties).map(([key, one]) => [key, plainSchema(one)] as const);
  return { ...schema, properties: Object.fromEntries(known), additionalProperties: false };
}

function image(name: string, flag: string, initial: string, whose: string): readonly Value[] {
  const [repository] = initial.split(':');
  return [
    {
      name: `${name}.repository`,
      initial: repository,
      schema: { type: 'string', pattern: REPOSITORY_PATTERN },
      meaning: `Image of ${whose}, with its registry and without a tag.`,
      flag,
    },
    {
      name: `${name}.tag`,
      initial: '',
      schema: { type: 'string', pattern: TAG_PATTERN },
      meaning: 'Its tag, a text. Empty: the version of the chart, or none beside a digest.',
      flag,
    },
    {
      name: `${name}.digest`,
      initial: '',
      schema: { type: 'string', pattern: DIGEST_PATTERN },
      meaning: 'Its digest, sha256:... Nodes then use exactly this image.',
      flag,
    },
  ];
}

/** `values.yaml`: each value below its meaning. */
export function valuesYaml(): string {
  const parts: string[] = [];
  let open: readonly string[] = [];
  for (const { name, initial, meaning } of VALUES) {
    const steps = name.split('.');
    const key = steps.at(-1) ?? '';
    const above = steps.slice(0, -1);
    if (above.length === 0 || above[0] !== open[0]) parts.push('');
    above.forEach((step, depth) => {
      const isOpen = above.slice(0, depth + 1).every((one, at) => open[at] === one);
      if (!isOpen) parts.push(`${'  '.repeat(depth)}${step}:`);
    });
    const indent = '  '.repeat(above.length);
    parts.push(`${indent}# ${meaning}`);
    parts.push(`${indent}${stringify({ [key]: initial }).trimEnd()}`);
    open = above;
  }
  return `# Values of the chart, with their defaults.\n${parts.join('\n')}\n`;
}

interface ObjectSchema {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly properties: Record<string, unknown>;
  readonly required: string[];
}

/** `values.schema.json`. What it does not know is refused, so a misspelt value is no surprise. */
export function valuesSchema(): string {
  const whole = emptySchema();
  for (const { name, schema, meaning } of VALUES) {
    const steps = name.split('.');
    let at = whole;
    for (const step of steps.slice(0, -1)) {
      at = enter(at, step);
    }
    add(at, steps.at(-1) ?? '', { description: meaning, ...schema });
  }
  // Helm adds this object to the values of a chart that is part of another.
  whole.properties['global'] = { type: 'object' };
  const head = { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'lockstep' };
  return `${JSON.stringify({ ...head, ...whole }, undefined, 2)}\n`;
}

function emptySchema(): ObjectSchema {
  return { type: 'object', additionalProperties: false, properties: {}, required: [] };
}

function enter(schema: ObjectSchema, step: string): ObjectSchema {
  if (!Object.hasOwn(schema.properties, step)) add(schema, step, emptySchema());
  // Only `emptySchema` makes what has values below it.
  return schema.properties[step] as ObjectSchema;
}

function add(schema: ObjectSchema, step: string, value: unknown): void {
  schema.properties[step] = value;
  schema.required.push(step);
}

/** The values as a table of Markdown. */
export function valuesTable(): string {
  const rows = VALUES.map(({ name, initial, meaning, flag }) => {
    const shown = `\`${JSON.stringify(initial)}\``;
    return `| \`${name}\` | ${shown} | ${flag === undefined ? '' : `\`${flag}\``} | ${meaning} |`;
  });
  return ['| value | default | flag | meaning |', '|---|---|---|---|', ...rows].join('\n');
}
