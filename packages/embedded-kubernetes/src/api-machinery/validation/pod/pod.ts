/**
 * Validates `core/v1 Pod` and Pod templates after defaults were applied. The schema checks types,
 * enumerations and required fields; this file checks what spans several fields.
 */
import {
  duplicate,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  unknownValueErrors,
} from '@lockstep/kube/field-error.ts';
import {
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '@lockstep/kube/name-rules.ts';
import type {
  Pod,
  PodResourceClaim,
  PodSpec,
  PodTemplateSpec,
  Toleration,
} from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { annotationsErrors, labelsErrors, objectMetaErrors } from '../object-meta.ts';
import { affinityErrors } from './affinity.ts';
import { containersErrors } from './container.ts';
import { dnsConfigErrors, hostAliasErrors } from './pod-network.ts';
import { podSecurityErrors } from './security-context.ts';
import { topologySpreadErrors } from './topology-spread.ts';
import { volumesErrors } from './volume.ts';

export const POD_METADATA = {
  namespaced: true,
  nameRule: dns1123SubdomainErrors,
  qualifiedFinalizers: true,
} as const;

/** Problems of a new Pod. */
export function podErrors(pod: Pod): FieldError[] {
  const { metadata, spec } = pod;
  const errors = [
    ...objectMetaErrors(metadata, POD_METADATA),
    ...podSpecErrors(spec, 'spec'),
    ...tokenSourceErrors(spec),
  ];
  if ((spec.ephemeralContainers ?? []).length > 0) {
    errors.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  }
  if ((spec.nodeName ?? '') !== '' && (spec.schedulingGates ?? []).length > 0) {
    const detail = 'cannot be set until all schedulingGates have been cleared';
    errors.push(forbiddenField('spec.nodeName', detail));
  }
  return errors;
}

/** Problems of a Pod template at `path`, such as the template of a Job. */
export function podTemplateErrors(template: PodTemplateSpec, path: string): FieldError[] {
  const { metadata = {}, spec } = template;
  const errors = [
    ...labelsErrors(metadata.labels, `${path}.labels`),
    ...annotationsErrors(metadata.annotations, `${path}.annotations`),
    ...podSpecErrors(spec, `${path}.spec`),
  ];
  if ((spec.ephemeralContainers ?? []).length > 0) {
    const detail = 'ephemeral containers not allowed in pod template';
    errors.push(forbiddenField(`${path}.spec.ephemeralContainers`, detail));
  }
  return errors;
}

export function podSpecErrors(spec: PodSpec, path: string): FieldError[] {
  return [
    ...volumesErrors(spec.volumes ?? [], `${path}.volumes`),
    ...resourceClaimErrors(spec.resourceClaims ?? [], `${path}.resourceClaims`),
    ...containersErrors(spec, path),
    ...hostNetworkErrors(spec, path),
    ...policiesErrors(spec, path),
    ...labelsErrors(spec.nodeSelector, `${path}.nodeSelector`),
    ...podSecurityErrors(spec, `${path}.securityContext`),
    ...affinityErrors(spec.affinity, `${path}.affinity`),
    ...dnsConfigErrors(spec, `${path}.dnsConfig`),
    ...readinessGatesErrors(spec, `${path}.readinessGates`),
    ...schedulingGatesErrors(spec, `${path}.schedulingGates`),
    ...topologySpreadErrors(
      spec.topologySpreadConstraints ?? [],
      `${path}.topologySpreadConstraints`,
    ),
    ...namesErrors(spec, path),
    ...deadlineErrors(spec, path),
    ...(spec.tolerations ?? []).flatMap((toleration, index) =>
      tolerationErrors(toleration, `${path}.tolerations[${index}]`),
    ),
    ...hostAliasErrors(spec, `${path}.hostAliases`),
  ];
}

/**
 * The schema checks these values too; here they appear in upstream's order among the other
 * problems.
 */
function policiesErrors({ restartPolicy, dnsPolicy }: PodSpec, path: string): FieldError[] {
  return [
    ...unknownValueErrors(`${path}.restartPolicy`, restartPolicy, RESTART_POLICIES),
    ...unknownValueErrors(`${path}.dnsPolicy`, dnsPolicy, DNS_POLICIES),
  ];
}

const RESTART_POLICIES: readonly string[] = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES: readonly string[] = [
  'ClusterFirstWithHostNet',
  'ClusterFirst',
  'Default',
  'None',
];

function resourceClaimErrors(claims: readonly PodResourceClaim[], path: string): FieldError[] {
  const names = claims.map(({ name }) => name);
  return claims.flatMap((claim, index) => {
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    const at = `${path}[${index}]`;
    const count = [resourceClaimName, resourceClaimTemplateName].filter(
      (source) => source !== undefined,
    ).length;
    const one = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
    const both =
      'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
    return [
      ...(name === ''
        ? [required(`${at}.name`)]
        : dns1123LabelErrors(name).map((text) => invalidValue(`${at}.name`, name, text))),
      ...(name !== '' && names.indexOf(name) < index ? [duplicate(`${at}.name`, name)] : []),
      ...(count === 1 ? [] : [invalidValue(at, claim, count === 0 ? one : both)]),
    ];
  });
}

function readinessGatesErrors({ readinessGates = [] }: PodSpec, path: string): FieldError[] {
  return readinessGates.flatMap(({ conditionType }, index) =>
    qualifiedNameErrors(conditionType).map((text) =>
      invalidValue(`${path}[${index}].conditionType`, conditionType, text),
    ),
  );
}

const INT32_MAX = 2_147_483_647;

function deadlineErrors(spec: PodSpec, path: string): FieldError[] {
  const { activeDeadlineSeconds: deadline } = spec;
  if (deadline === undefined || (deadline >= 1 && deadline <= INT32_MAX)) return [];
  const detail = `must be between 1 and ${INT32_MAX}, inclusive`;
  return [invalidValue(`${path}.activeDeadlineSeconds`, deadline, detail)];
}

function namesErrors(spec: PodSpec, path: string): FieldError[] {
  const rules = [
    ['serviceAccountName', dns1123SubdomainErrors],
    ['nodeName', dns1123SubdomainErrors],
    ['hostname', dns1123LabelErrors],
    ['subdomain', dns1123LabelErrors],
  ] as const;
  return rules.flatMap(([member, rule]) => {
    const name = spec[member] ?? '';
    if (name === '') return [];
    return rule(name).map((text) => invalidValue(`${path}.${member}`, name, text));
  });
}

/** On the host's network, a container port is a port of the host. */
function hostNetworkErrors(spec: PodSpec, path: string): FieldError[] {
  if (spec.hostNetwork !== true) return [];
  const lists = [
    [spec.containers, 'containers'],
    [spec.initContainers ?? [], 'initContainers'],
  ] as const;
  return lists.flatMap(([containers, list]) =>
    containers.flatMap(({ ports = [] }, index) =>
      ports.flatMap(({ hostPort = 0, containerPort }, portIndex) => {
        if (hostPort === 0 || hostPort === containerPort) return [];
        const field = `${path}.${list}[${index}].ports[${portIndex}].hostPort`;
        return [
          invalidValue(field, hostPort, 'must match `containerPort` when `hostNetwork` is true'),
        ];
      }),
    ),
  );
}

function schedulingGatesErrors(spec: PodSpec, path: string): FieldError[] {
  const seen = new Set<string>();
  return (spec.schedulingGates ?? []).flatMap(({ name }, index) => {
    const field = `${path}[${index}]`;
    const errors: FieldError[] = qualifiedNameErrors(name).map((text) =>
      invalidValue(field, name, text),
    );
    if (seen.has(name)) errors.push(duplicate(field, name));
    seen.add(name);
    return errors;
  });
}

function tolerationErrors(toleration: Toleration, path: string): FieldError[] {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  const errors: FieldError[] =
    key === ''
      ? []
      : qualifiedNameErrors(key).map((text) => invalidValue(`${path}.key`, key, text));
  if (key === '' && operator !== 'Exists') {
    const detail =
      'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalidValue(`${path}.operator`, operator, detail));
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(invalidValue(`${path}.effect`, effect, detail));
  }
  if (operator === 'Exists') {
    if (value !== '') {
      const detail = "value must be empty when `operator` is 'Exists'";
      errors.push(invalidValue(`${path}.operator`, value, detail));
    }
  } else if (operator === 'Equal' || operator === '') {
    const complaints = labelValueErrors(value);
    if (complaints.length > 0) {
      errors.push(invalidValue(`${path}.operator`, value, complaints.join(';')));
    }
  } else errors.push(notSupported(`${path}.operator`, operator, OPERATORS));
  if (effect !== '') {
    errors.push(...unknownValueErrors(`${path}.effect`, effect, EFFECTS));
  }
  return errors;
}

const OPERATORS: readonly string[] = ['Equal', 'Exists'];
const EFFECTS: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** A token needs a service account, which admission has set by now. */
function tokenSourceErrors(spec: PodSpec): FieldError[] {
  if ((spec.serviceAccountName ?? '') !== '') return [];
  return (spec.volumes ?? []).flatMap((volume, index) =>
    (volume.projected?.sources ?? []).flatMap((source, sourceIndex) =>
      source.serviceAccountToken === undefined
        ? []
        : [
            forbiddenField(
              `spec.volumes[${index}].projected.sources[${sourceIndex}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  );
}
