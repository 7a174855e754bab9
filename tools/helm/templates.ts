/**
 * The templates of the chart, from what `manifest()` gives for different settings: marks stand for
 * the texts in which installations differ, and become expressions.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { manifest } from '../../src/deploy/manifest.ts';
import { defaultSettings, type InstallationSettings } from '../../src/deploy/settings.ts';
import type { GivenSettings } from '../../src/operator/configuration/setting-values.ts';
import { settingExpression } from './configuration-template.ts';
import { Expression, either, isPlain, not, Optional, templateText } from './template-tree.ts';

const NAMESPACE = 'mark-of-the-namespace';
const WATCHED = 'mark-of-a-watched-namespace';
const OPERATOR_IMAGE = 'mark/of/the/operator';
const OPERATOR_MEMORY = 'mark-of-the-memory';
/** Settings that other objects follow. Ports are numbers that stand nowhere else. */
const MARKED_SETTINGS = {
  webhookPort: 61_001,
  metricsBindAddress: ':61002',
  healthProbeBindAddress: ':61003',
  livenessEndpoint: 'mark.of.liveness',
  readinessEndpoint: 'mark.of.readiness',
  webhookService: 'mark-of-the-webhook-service',
  webhookSecretName: 'mark-of-the-webhook-secret',
  leaderElectionId: 'mark-of-the-lease',
  // With all that any installation may have.
  agentRights: true,
} as const satisfies GivenSettings;
const PORTS: ReadonlyMap<number, string> = new Map([
  [61_001, '{{ include "lockstep.webhookPort" $ }}'],
  [61_002, '{{ include "lockstep.metricsPort" $ }}'],
  [61_003, '{{ include "lockstep.healthPort" $ }}'],
]);

export const CONFIGURATION_HASH = 'lockstep/configuration';
const KEEP = { 'helm.sh/resource-policy': 'keep' } as const;

const WEBHOOKS = '$.Values.webhooks';
const ONLY_MANAGED = '$.Values.onlyManaged';
const WATCH_NAMESPACES = '$.Values.watchNamespaces';
const RELEASE_NAMESPACE = '$.Release.Namespace';
const METRICS = '(ne (include "lockstep.metricsPort" $) "0")';
const HEALTH = '(ne (include "lockstep.healthPort" $) "0")';
const AGENT_RIGHTS = `(${settingExpression('agentRights')})`;
const SECURE = `(${settingExpression('metricsSecure')})`;

/** What a mark becomes inside a longer text, and where it is all of it. */
const INSIDE: ReadonlyMap<string, string> = new Map([
  [NAMESPACE, `{{ ${RELEASE_NAMESPACE} }}`],
  [WATCHED, `{{ join "," ${WATCH_NAMESPACES} }}`],
  ...(
    [
      'livenessEndpoint',
      'readinessEndpoint',
      'webhookService',
      'webhookSecretName',
      'leaderElectionId',
    ] as const
  ).map((name) => [MARKED_SETTINGS[name], `{{ ${settingExpression(name)} }}`] as const),
]);
const WHOLE: ReadonlyMap<string, string> = new Map([
  [NAMESPACE, `{{ ${RELEASE_NAMESPACE} | quote }}`],
  [WATCHED, '{{ . | quote }}'],
  [OPERATOR_IMAGE, '{{ include "lockstep.operatorImage" $ | quote }}'],
  [OPERATOR_MEMORY, '{{ include "lockstep.operatorMemory" $ }}'],
]);

/** In the template of the operator's Pods, besides what the manifest has. */
const POD_OPTIONS = {
  imagePullSecrets: new Optional('$.Values.imagePullSecrets'),
  priorityClassName: new Optional('$.Values.priorityClassName'),
  nodeSelector: new Optional('$.Values.nodeSelector'),
  affinity: new Optional('$.Values.affinity'),
  tolerations: new Optional('$.Values.tolerations'),
} as const;

/** Values that replace one of the manifest, by kind and path. */
const REPLACED: Readonly<Record<string, string>> = {
  'Deployment.spec.replicas': '{{ int64 $.Values.replicas }}',
  'Deployment.resources.requests.cpu': '{{ $.Values.resources.requests.cpu | quote }}',
  'Deployment.resources.requests.memory': '{{ $.Values.resources.requests.memory | quote }}',
  'Deployment.resources.limits.cpu': '{{ $.Values.resources.limits.cpu | quote }}',
};

/** Helm makes the namespace of a release itself, so it is none of the chart's objects. */
export function isInChart({ kind }: KubeObject): boolean {
  return kind !== NAMESPACES.kind;
}

/** By path in the chart, one file for each kind. */
export function objectTemplates(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { kind = '', condition, tree } of conditionalObjects()) {
    const path = `templates/${kind.toLowerCase()}.yaml`;
    const document = `---\n${templateText(tree)}`;
    const [opening, closing] =
      condition === undefined ? ['', ''] : [`{{- ${condition} }}\n`, '{{- end }}\n'];
    files.set(path, `${files.get(path) ?? ''}${opening}${document}${closing}`);
  }
  return files;
}

interface ConditionalObject {
  readonly kind: string | undefined;
  /** A Go template action, `if $.Values.webhooks`; undefined: it is always there. */
  readonly condition: string | undefined;
  readonly tree: unknown;
}

/** Every object that some setting asks for, with the setting. */
function conditionalObjects(): readonly ConditionalObject[] {
  const all = objectsFor({ watchNamespaces: [WATCHED] });
  const conditions: readonly (readonly [string, Partial<InstallationSettings>])[] = [
    [`if ${WEBHOOKS}`, { webhooks: false }],
    [`if ${not(ONLY_MANAGED)}`, PILOT],
    ['if $.Values.monitoring', { monitoring: false }],
    ['if $.Values.networkPolicy', { networkPolicy: false }],
    [`if ${METRICS}`, withSettings({ metricsBindAddress: '0' })],
    [`range ${WATCH_NAMESPACES}`, { watchNamespaces: [] }],
  ];
  const without = conditions.map(([condition, off]) => ({
    condition,
    objects: objectsFor({ watchNamespaces: [WATCHED], ...off }),
  }));
  return all.map((object) => ({
    kind: object.kind,
    condition: without.find(({ objects }) => same(objects, object) === undefined)?.condition,
    tree: treeOf(object),
  }));
}

/** Beside another controller, whose definition stays. */
const PILOT = { onlyManaged: true, definition: false } as const;

/** What changes objects inside, outermost first, and the settings with which it does not hold. */
const CHANGES: readonly (readonly [condition: string, off: Partial<InstallationSettings>])[] = [
  [not(ONLY_MANAGED), PILOT],
  [WEBHOOKS, { webhooks: false }],
  [AGENT_RIGHTS, withSettings({ agentRights: false })],
  [METRICS, withSettings({ metricsBindAddress: '0' })],
  [HEALTH, withSettings({ healthProbeBindAddress: '0' })],
  [SECURE, withSettings({ metricsSecure: false })],
  // With the condition negated, the case of all but confined installations reads first.
  [not(WATCH_NAMESPACES), { watchNamespaces: [WATCHED] }],
];

function withSettings(configuration: GivenSettings): Partial<InstallationSettings> {
  return { configuration };
}

/** The object with conditions around what settings change inside of it. */
function treeOf(
  object: KubeObject,
  settings: Partial<InstallationSettings> = {},
  [change, ...others] = CHANGES,
): unknown {
  if (change === undefined) {
    const found = same(objectsFor(settings), object);
    return found === undefined ? undefined : marked(withOptions(found), found.kind ?? '');
  }
  const [condition, off] = change;
  const configuration = { ...settings.configuration, ...off.configuration };
  const trees = [settings, { ...settings, ...off, configuration }].map((one) =>
    treeOf(object, one, others),
  );
  const [on, without] = trees;
  if (on === undefined || without === undefined) return on ?? without;
  return either(condition, on, without);
}

const made = new Map<string, readonly KubeObject[]>();

/** With monitoring and a network policy, unless the settings say otherwise. */
function objectsFor(settings: Partial<InstallationSettings>): readonly KubeObject[] {
  const key = JSON.stringify(settings);
  const known = made.get(key);
  if (known !== undefined) return known;
  const marks = {
    ...defaultSettings(''),
    namespace: NAMESPACE,
    operatorImage: OPERATOR_IMAGE,
    operatorMemory: OPERATOR_MEMORY,
    monitoring: true,
    networkPolicy: true,
  };
  const configuration = { ...MARKED_SETTINGS, ...settings.configuration };
  const installed = manifest({ ...marks, ...settings, configuration });
  const objects = installed.map(({ object }) => object).filter(isInChart);
  made.set(key, objects);
  return objects;
}

function same(objects: readonly KubeObject[], { kind, metadata }: KubeObject) {
  return objects.find(
    (one) =>
      one.kind === kind &&
      one.metadata.namespace === metadata.namespace &&
      one.metadata.name === metadata.name,
  );
}

/** What is Helm's alone, and what the chart has beyond the settings of an installation. */
function withOptions(object: KubeObject): unknown {
  if (object.kind !== CUSTOM_RESOURCE_DEFINITIONS.kind) return object;
  const { annotations } = object.metadata;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, ...KEEP } } };
}

/** The tree with expressions in place of marks. `path` begins with the kind. */
function marked(node: unknown, path: string): unknown {
  const replaced = Object.entries(REPLACED).find(([suffix]) => isAt(path, suffix));
  if (replaced !== undefined) return new Expression(replaced[1]);
  if (typeof node === 'string') return markedText(node);
  const port = typeof node === 'number' ? PORTS.get(node) : undefined;
  if (port !== undefined) return new Expression(port);
  if (Array.isArray(node)) {
    if (deepEqual(node, [WATCHED])) return new Expression(`{{ toJson ${WATCH_NAMESPACES} }}`);
    return node.map((item) => marked(item, path));
  }
  if (!isPlain(node)) return node;
  const entries = Object.entries(node).map(([key, value]): readonly [string, unknown] => {
    if (key === CONFIGURATION_HASH)
      return [key, new Expression('{{ include "lockstep.configuration" $ | sha1sum }}')];
    if (path === 'ConfigMap.data')
      return [key, new Expression('|\n    {{- include "lockstep.configuration" $ | nindent 4 }}')];
    return [key, marked(value, `${path}.${key}`)];
  });
  const options = path === 'Deployment.spec.template.spec' ? Object.entries(POD_OPTIONS) : [];
  return Object.fromEntries([...entries, ...options]);
}

/** Whether a path ends with the steps after the kind. */
function isAt(path: string, wanted: string): boolean {
  const [kind = '', ...steps] = wanted.split('.');
  return path === wanted || (path.startsWith(`${kind}.`) && path.endsWith(`.${steps.join('.')}`));
}

function markedText(text: string): unknown {
  const whole = WHOLE.get(text);
  if (whole !== undefined) return new Expression(whole);
  const marks = [...INSIDE].filter(([mark]) => text.includes(mark));
  if (marks.length === 0) return text;
  let quoted = JSON.stringify(text);
  for (const [mark, expression] of marks) quoted = quoted.replaceAll(mark, expression);
  return new Expression(quoted);
}
