/** Checks which fields an update of a Pod changes: metadata, and very little of the spec. */

import { forbiddenField, invalidValue } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Container, Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { objectMetaUpdateErrors } from '../object-meta.ts';
import { POD_METADATA, podSpecErrors } from './pod.ts';

const UPDATABLE_FIELDS = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

/** Problems of replacing the Pod `before` by `pod` through its main resource. */
export function podUpdateErrors(pod: Pod, before: Pod): FieldError[] {
  const { spec } = pod;
  const old = before.spec;
  const errors = [
    ...objectMetaUpdateErrors(pod.metadata, before.metadata, POD_METADATA),
    ...podSpecErrors(spec, 'spec'),
  ];
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list] ?? []).length !== (old[list] ?? []).length) {
      return [
        ...errors,
        forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers'),
      ];
    }
  }
  errors.push(
    ...deadlineErrors(spec, old),
    ...tolerationsErrors(spec, old),
    ...gatesErrors(spec, old),
  );
  const changed = changedFields(spec, old);
  if (changed.length > 0) {
    const detail = `pod updates may not change fields other than ${UPDATABLE_FIELDS.join(',')}`;
    errors.push(forbiddenField('spec', `${detail}\n${changed.join('\n')}`));
  }
  return errors;
}

/** Problems of an update through `ephemeralcontainers`, which may only add containers. */
export function ephemeralUpdateErrors(pod: Pod, before: Pod): FieldError[] {
  const wanted = new Map((pod.spec.ephemeralContainers ?? []).map((one) => [one.name, one]));
  const existing = before.spec.ephemeralContainers ?? [];
  return [
    ...podSpecErrors(pod.spec, 'spec'),
    ...existing.flatMap((old) => {
      const now = wanted.get(old.name);
      if (now !== undefined && deepEqual(now, old)) return [];
      const what = now === undefined ? 'removed' : 'changed';
      const detail = `existing ephemeral containers "${old.name}" may not be ${what}\n`;
      return [forbiddenField('spec.ephemeralContainers', detail)];
    }),
  ];
}

function deadlineErrors(spec: PodSpec, old: PodSpec): FieldError[] {
  const field = 'spec.activeDeadlineSeconds';
  const { activeDeadlineSeconds: now } = spec;
  const { activeDeadlineSeconds: then } = old;
  if (then === undefined) return [];
  if (now === undefined) {
    return [invalidValue(field, null, 'must not update from a positive integer to nil value')];
  }
  if (now <= then) return [];
  return [invalidValue(field, now, 'must be less than or equal to previous value')];
}

/** Tolerations can only be added. */
function tolerationsErrors(spec: PodSpec, old: PodSpec): FieldError[] {
  const kept = spec.tolerations ?? [];
  const isLost = (old.tolerations ?? []).some(
    (toleration) => !kept.some((other) => isSameToleration(toleration, other)),
  );
  if (!isLost) return [];
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return [forbiddenField('spec.tolerations', detail)];
}

type Toleration = NonNullable<PodSpec['tolerations']>[number];

function isSameToleration(left: Toleration, right: Toleration): boolean {
  const { tolerationSeconds: _left, ...before } = left;
  const { tolerationSeconds: _right, ...after } = right;
  return deepEqual(before, after);
}

/** Scheduling gates can only be removed. */
function gatesErrors(spec: PodSpec, old: PodSpec): FieldError[] {
  const before = new Set((old.schedulingGates ?? []).map((gate) => gate.name));
  return (spec.schedulingGates ?? []).flatMap((gate, index) =>
    before.has(gate.name)
      ? []
      : [
          forbiddenField(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${gate.name}'`,
          ),
        ],
  );
}

/** Lines that show each forbidden change: `- old` and `+ new`. */
function changedFields(spec: PodSpec, old: PodSpec): string[] {
  const before: JsonObject = { ...old };
  const after = withoutUpdatable({ ...spec }, spec, old);
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].sort().flatMap((field) => {
    if (deepEqual(after[field], before[field])) return [];
    return [
      ...(before[field] === undefined ? [] : [`- ${field}: ${JSON.stringify(before[field])}`]),
      ...(after[field] === undefined ? [] : [`+ ${field}: ${JSON.stringify(after[field])}`]),
    ];
  });
}

/** `spec` with its mutable fields as they were before, so that only forbidden changes are left. */
function withoutUpdatable(fields: JsonObject, spec: PodSpec, old: PodSpec): JsonObject {
  const isGraceRepaired =
    (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1;
  return {
    ...fields,
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
    containers: withImages(spec.containers, old.containers),
    initContainers: withImages(spec.initContainers, old.initContainers),
    ...(isGraceRepaired
      ? { terminationGracePeriodSeconds: old.terminationGracePeriodSeconds }
      : {}),
    ...(isNarrowedWhileGated(spec, old) ? { nodeSelector: old.nodeSelector } : {}),
  };
}

/** A gated Pod may be narrowed to fewer nodes. */
function isNarrowedWhileGated(spec: PodSpec, old: PodSpec): boolean {
  if ((old.schedulingGates ?? []).length === 0) return false;
  const { nodeSelector = {} } = spec;
  return Object.entries(old.nodeSelector ?? {}).every(
    ([key, value]) => nodeSelector[key] === value,
  );
}

function withImages(
  containers: readonly Container[] | undefined,
  old: readonly Container[] | undefined,
): readonly Container[] | undefined {
  return containers?.map((container, index) => {
    const { image, ...rest } = container;
    const before = old?.[index]?.image ?? image;
    return before === undefined ? rest : { ...rest, image: before };
  });
}
