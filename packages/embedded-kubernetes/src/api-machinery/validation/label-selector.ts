/** Validates a `meta/v1 LabelSelector` inside an object. */
import { forbiddenField, invalidValue, required } from '@lockstep/kube/field-error.ts';
import type { LabelSelector, LabelSelectorRequirement } from '@lockstep/kube/meta.ts';
import { labelValueErrors, qualifiedNameErrors } from '@lockstep/kube/name-rules.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { labelsErrors } from './object-meta.ts';

export function labelSelectorErrors(selector: LabelSelector, path: string): FieldError[] {
  const { matchLabels, matchExpressions = [] } = selector;
  return [
    ...labelsErrors(matchLabels, `${path}.matchLabels`),
    ...matchExpressions.flatMap((expression, at) =>
      requirementErrors(expression, `${path}.matchExpressions[${at}]`),
    ),
  ];
}

function requirementErrors(expression: LabelSelectorRequirement, path: string): FieldError[] {
  const { key, values = [] } = expression;
  return [
    ...operatorErrors(expression, path),
    ...qualifiedNameErrors(key).map((text) => invalidValue(`${path}.key`, key, text)),
    ...values.flatMap((value, at) =>
      labelValueErrors(value).map((text) => invalidValue(`${path}.values[${at}]`, value, text)),
    ),
  ];
}

function operatorErrors(
  { operator, values = [] }: LabelSelectorRequirement,
  path: string,
): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn': {
      const detail = "must be specified when `operator` is 'In' or 'NotIn'";
      return values.length > 0 ? [] : [required(`${path}.values`, detail)];
    }
    case 'Exists':
    case 'DoesNotExist': {
      const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      return values.length === 0 ? [] : [forbiddenField(`${path}.values`, detail)];
    }
    default:
      operator satisfies never;
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}
