/** Validates `core/v1 TopologySpreadConstraint`: how evenly Pods are spread. */
import {
  duplicate,
  invalidValue,
  required,
  unknownValueErrors,
} from '@lockstep/kube/field-error.ts';
import type { LabelSelector } from '@lockstep/kube/meta.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { labelSelectorErrors } from '../label-selector.ts';

interface TopologySpreadConstraint {
  readonly maxSkew?: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable?: string;
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
}

const ACTIONS: readonly string[] = ['DoNotSchedule', 'ScheduleAnyway'];

export function topologySpreadErrors(
  constraints: readonly TopologySpreadConstraint[],
  path: string,
): FieldError[] {
  const keys = constraints.map(
    ({ topologyKey, whenUnsatisfiable = '' }) => `{${topologyKey}, ${whenUnsatisfiable}}`,
  );
  return constraints.flatMap((constraint, index) => {
    const { maxSkew = 0, topologyKey, whenUnsatisfiable = '', labelSelector } = constraint;
    const at = `${path}[${index}]`;
    const key = keys[index] ?? '';
    return [
      ...positiveErrors(maxSkew, `${at}.maxSkew`),
      ...(topologyKey === '' ? [required(`${at}.topologyKey`, 'can not be empty')] : []),
      ...unknownValueErrors(`${at}.whenUnsatisfiable`, whenUnsatisfiable, ACTIONS),
      ...(keys.lastIndexOf(key) > index
        ? [duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, key)]
        : []),
      ...minDomainsErrors(constraint, `${at}.minDomains`),
      ...(labelSelector === undefined
        ? []
        : labelSelectorErrors(labelSelector, `${at}.labelSelector`)),
    ];
  });
}

function minDomainsErrors(
  { minDomains, whenUnsatisfiable = '' }: TopologySpreadConstraint,
  path: string,
): FieldError[] {
  if (minDomains === undefined) return [];
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
  return [
    ...positiveErrors(minDomains, path),
    ...(whenUnsatisfiable === 'DoNotSchedule' ? [] : [invalidValue(path, minDomains, detail)]),
  ];
}

function positiveErrors(value: number, path: string): FieldError[] {
  return value > 0 ? [] : [invalidValue(path, value, 'must be greater than zero')];
}
