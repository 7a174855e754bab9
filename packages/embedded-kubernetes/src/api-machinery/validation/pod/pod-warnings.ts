/**
 * Warnings for a Pod, or for the Pod template of a Job, that is valid but probably wrong, in the
 * words and the order of Kubernetes.
 */

import type { ObjectMeta, StringMap } from '@lockstep/kube/meta.ts';
import { dns1123LabelErrors, labelValueErrors } from '@lockstep/kube/name-rules.ts';
import type { Affinity, NodeSelectorTerm, PodAffinity } from '@lockstep/kube/objects/affinity.ts';
import type { Pod, PodSpec, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { containerWarnings, fractionWarnings, portsWarnings } from './container-warnings.ts';
import { volumesWarnings } from './volume-warnings.ts';

/** Warnings for a new Pod. Updates give none, because Pods are hardly ever changed by hand. */
export function podWarnings({ metadata, spec }: Pod): readonly string[] {
  const problems = dns1123LabelErrors(metadata.name ?? '');
  const why =
    "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [
    ...(problems.length === 0 ? [] : [`metadata.name: ${why}: [${problems.join(' ')}]`]),
    ...specWarnings(spec, metadata, ''),
  ];
}

/** Warnings for a Pod template at `path`. */
export function podTemplateWarnings(
  { metadata = {}, spec }: PodTemplateSpec,
  path: string,
): readonly string[] {
  return specWarnings(spec, metadata, `${path}.`);
}

function specWarnings(spec: PodSpec, metadata: ObjectMeta, prefix: string): readonly string[] {
  const path = `${prefix}spec`;
  const { terminationGracePeriodSeconds = 0 } = spec;
  const grace = 'must be >= 0; negative values are invalid and will be treated as 1';
  return [
    ...nodeWarnings(spec, path),
    ...annotationWarnings(metadata.annotations ?? {}, spec, prefix),
    ...volumesWarnings(spec.volumes ?? [], `${path}.volumes`),
    ...duplicateWarnings(spec, path),
    ...fractionWarnings(spec.overhead, `${path}.overhead`),
    ...containerWarnings(spec, metadata.annotations ?? {}, prefix),
    ...portsWarnings(spec, path),
    ...(terminationGracePeriodSeconds < 0
      ? [`${path}.terminationGracePeriodSeconds: ${grace}`]
      : []),
    ...neighbourWarnings(spec.affinity?.podAffinity, `${path}.affinity.podAffinity`),
    ...neighbourWarnings(spec.affinity?.podAntiAffinity, `${path}.affinity.podAntiAffinity`),
  ];
}

/** Node labels that have been renamed. */
const OLD_NODE_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  [
    'failure-domain.beta.kubernetes.io/region',
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  ],
  [
    'failure-domain.beta.kubernetes.io/zone',
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ],
  [
    'beta.kubernetes.io/instance-type',
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  ],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  [
    'scheduler.alpha.kubernetes.io/preferAvoidPods',
    'deprecated since v1.22; use Taints and Tolerations instead',
  ],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const MATCHES_NOTHING = 'a null labelSelector results in matching no pod';

function nodeWarnings(spec: PodSpec, path: string): readonly string[] {
  const selected = Object.keys(spec.nodeSelector ?? {}).flatMap((key) => {
    const text = OLD_NODE_LABELS.get(key);
    return text === undefined ? [] : [`${path}.nodeSelector[${key}]: ${text}`];
  });
  const spread = (spec.topologySpreadConstraints ?? []).flatMap((constraint, index) => {
    const at = `${path}.topologySpreadConstraints[${index}]`;
    return [
      ...oldLabelWarnings(constraint.topologyKey, `${at}.topologyKey`),
      ...(constraint.labelSelector === undefined
        ? [`${at}.labelSelector: ${MATCHES_NOTHING}`]
        : []),
    ];
  });
  return [...selected, ...affinityWarnings(spec.affinity, `${path}.affinity`), ...spread];
}

function affinityWarnings(affinity: Affinity | undefined, path: string): readonly string[] {
  const nodes = affinity?.nodeAffinity;
  const terms = nodes?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const preferences = nodes?.[PREFERRED] ?? [];
  return [
    ...terms.flatMap((term, index) =>
      termWarnings(term, `${path}.nodeAffinity.${REQUIRED}.nodeSelectorTerms[${index}]`),
    ),
    ...preferences.flatMap(({ preference }, index) => {
      const at = `${path}.nodeAffinity.${PREFERRED}[${index}].preference`;
      return [...termWarnings(preference, at), ...valueWarnings(preference, at)];
    }),
  ];
}

function termWarnings({ matchExpressions = [] }: NodeSelectorTerm, path: string): string[] {
  return matchExpressions.flatMap(({ key }, index) =>
    oldLabelWarnings(key, `${path}.matchExpressions[${index}].key`),
  );
}

/** Warns of bad values in preferences, which are not refused. */
function valueWarnings({ matchExpressions = [] }: NodeSelectorTerm, path: string): string[] {
  return matchExpressions.flatMap(({ values = [] }, index) =>
    values.flatMap((value, at) =>
      labelValueErrors(value).map(
        (text) => `${path}.matchExpressions[${index}].values[${at}]: ${value} is invalid, ${text}`,
      ),
    ),
  );
}

function oldLabelWarnings(key: string, path: string): string[] {
  const text = OLD_NODE_LABELS.get(key);
  return text === undefined ? [] : [`${path}: ${key} is ${text}`];
}

/** Annotations that a field has replaced. */
const OLD_ANNOTATIONS = [
  [
    'scheduler.alpha.kubernetes.io/critical-pod',
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  [
    'security.alpha.kubernetes.io/sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
  [
    'security.alpha.kubernetes.io/unsafe-sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
] as const;
const POD_SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod';

function annotationWarnings(annotations: StringMap, spec: PodSpec, prefix: string) {
  const at = (key: string, text: string): string =>
    `${prefix}metadata.annotations[${key}]: ${text}`;
  const old = OLD_ANNOTATIONS.filter(([key]) => Object.hasOwn(annotations, key));
  const isSeccomp =
    Object.hasOwn(annotations, POD_SECCOMP) && spec.securityContext?.seccompProfile === undefined;
  return [
    ...old.map(([key, text]) => at(key, text)),
    ...(isSeccomp
      ? [at(POD_SECCOMP, 'non-functional in v1.27+; use the "seccompProfile" field instead')]
      : []),
  ];
}

function duplicateWarnings(spec: PodSpec, path: string): readonly string[] {
  const { hostAliases = [], imagePullSecrets = [] } = spec;
  const names = imagePullSecrets.map(({ name = '' }) => name);
  const secrets = `${path}.imagePullSecrets`;
  return [
    ...repeated(
      hostAliases.map(({ ip }) => ip),
      (ip, index) => `${path}.hostAliases[${index}].ip: duplicate ip ${quote(ip)}`,
    ),
    ...repeated(names, (name, index) => `${secrets}[${index}].name: duplicate name ${quote(name)}`),
    ...names.flatMap((name, index) =>
      name === '' ? [`${secrets}[${index}].name: invalid empty name ""`] : [],
    ),
  ];
}

/** One text for each item that occurs earlier in the list. */
function repeated(
  values: readonly string[],
  text: (value: string, index: number) => string,
): readonly string[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [text(value, index)];
    seen.add(value);
    return [];
  });
}

function neighbourWarnings(affinity: PodAffinity | undefined, path: string): readonly string[] {
  const emptySelector = (selector: unknown, at: string): readonly string[] =>
    selector === undefined ? [`${at}.labelSelector: ${MATCHES_NOTHING}`] : [];
  return [
    ...(affinity?.[REQUIRED] ?? []).flatMap(({ labelSelector }, index) =>
      emptySelector(labelSelector, `${path}.${REQUIRED}[${index}]`),
    ),
    ...(affinity?.[PREFERRED] ?? []).flatMap(({ podAffinityTerm }, index) =>
      emptySelector(
        podAffinityTerm.labelSelector,
        `${path}.${PREFERRED}[${index}].podAffinityTerm`,
      ),
    ),
  ];
}
