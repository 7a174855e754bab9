/**
 * The templates of the chart, from what `manifest()` gives for different settings: marks stand for
 * the texts in which installations differ, and become expressions.
 */
import { manifest } from '../../src/deploy/manifest.ts';
import { defaultSettings, type InstallationSettings } from '../../src/deploy/settings.ts';
import { deepEqual } from '../../src/kube/json/deep-equal.ts';
import type { KubeObject } from '../../src/kube/meta.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../src/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/kube/objects/custom-resource-definition.ts';
import { Expression, either, isPlain, not, Optional, templateText } from './template-tree.ts';

const NAMESPACE = 'mark-of-the-namespace';
const WATCHED = 'mark-of-a-watched-namespace';
const OPERATOR_IMAGE = 'mark/of/the/operator';
const AGENT_IMAGE = 'mark/of/the/agent';
const OPERATOR_MEMORY = 'mark-of-the-memory';
/** A number that stands nowhere else. */
const MAX_STREAMS = 131_313;

const CONFIGURATION_HASH = 'lockstep/configuration';
const KEEP = { 'helm.sh/resource-policy': 'keep' } as const;

const WEBHOOKS = '$.Values.webhooks';
const AGENT_RIGHTS = '$.Values.agentRights';
const WATCH_NAMESPACES = '$.Values.watchNamespaces';
const RELEASE_NAMESPACE = '$.Release.Namespace';

/** What a mark becomes inside a longer text, and where it is all of it. */
const INSIDE: ReadonlyMap<string, string> = new Map([
  [NAMESPACE, `{{ ${RELEASE_NAMESPACE} }}`],
  [WATCHED, `{{ join "," ${WATCH_NAMESPACES} }}`],
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

/** The operator's configuration as a template, for its ConfigMap and for the hash of that. */
export function configurationTemplate(): string {
  const map = objectsFor({}).find(({ kind }) => kind === CONFIG_MAPS.kind);
  const [text = ''] = Object.values(
    (map as { data?: Record<string, string> } | undefined)?.data ?? {},
  );
  return text
    .replace(`${MAX_STREAMS}`, '{{ int64 $.Values.maxStreams }}')
    .replace(AGENT_IMAGE, '{{ include "lockstep.agentImage" $ }}')
    .replace(/(?<=channel: )Hub/, '{{ $.Values.agentChannel }}')
    .replace(/(?<=rights: )false/, '{{ $.Values.agentRights }}');
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
  const all = objectsFor({ monitoring: true, networkPolicy: true, watchNamespaces: [WATCHED] });
  const conditions: readonly (readonly [string, Partial<InstallationSettings>])[] = [
    [`if ${WEBHOOKS}`, { webhooks: false }],
    ['if $.Values.monitoring', { monitoring: false }],
    ['if $.Values.networkPolicy', { networkPolicy: false }],
    [`range ${WATCH_NAMESPACES}`, { watchNamespaces: [] }],
  ];
  const on = { monitoring: true, networkPolicy: true, watchNamespaces: [WATCHED] };
  const without = conditions.map(([condition, off]) => ({
    condition,
    objects: objectsFor({ ...on, ...off }),
  }));
  return all.map((object) => ({
    kind: object.kind,
    condition: without.find(({ objects }) => same(objects, object) === undefined)?.condition,
    tree: treeOf(object),
  }));
}

/** The object with conditions around what settings change inside of it. */
function treeOf(object: KubeObject): unknown {
  const form = (webhooks: boolean, watchNamespaces: readonly string[]): unknown => {
    const [granting, others] = [true, false].map((agentRights) => {
      const settings = { ...EXTRAS, webhooks, watchNamespaces, agentRights };
      const found = same(objectsFor(settings), object);
      return found === undefined ? undefined : marked(withOptions(found), found.kind ?? '');
    });
    return granting === undefined ? undefined : either(AGENT_RIGHTS, granting, others);
  };
  const confinable = (webhooks: boolean): unknown => {
    const [confined, everywhere] = [form(webhooks, [WATCHED]), form(webhooks, [])];
    if (everywhere === undefined || confined === undefined) return confined ?? everywhere;
    // Told by its negation, what all installations but confined ones have reads first.
    return either(not(WATCH_NAMESPACES), everywhere, confined);
  };
  const [on, off] = [confinable(true), confinable(false)];
  return on === undefined || off === undefined ? (on ?? off) : either(WEBHOOKS, on, off);
}

const EXTRAS = { monitoring: true, networkPolicy: true } as const;

function objectsFor(settings: Partial<InstallationSettings>): readonly KubeObject[] {
  const marks = {
    ...defaultSettings(''),
    namespace: NAMESPACE,
    operatorImage: OPERATOR_IMAGE,
    agentImage: AGENT_IMAGE,
    operatorMemory: OPERATOR_MEMORY,
    maxStreams: MAX_STREAMS,
  };
  const installed = manifest({ ...marks, ...settings });
  return installed.map(({ object }) => object).filter(isInChart);
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
