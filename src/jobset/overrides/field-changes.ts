/**
 * Updates of a JobSet whose annotations set fields. `spec.failurePolicy` is immutable, and so are its
 * annotations. A wrapper that applies its own manifest again sends other fields. They get the values
 * of the annotations again, so the update changes nothing.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { JobSet } from '../jobset.ts';
import { FIELD_ANNOTATIONS, fieldText, withFieldsOf } from './field-annotations.ts';
import { asRecorded } from './recorded-annotations.ts';

/**
 * The new version with the fields of annotations that it kept. A field that was never written,
 * because the annotation came in without the webhook, stays: the status has recorded it.
 */
export function withKeptFields(old: JobSet, jobSet: JobSet): JobSet {
  const kept = FIELD_ANNOTATIONS.flatMap((field) => {
    const text = jobSet.metadata.annotations?.[field.key];
    const isKept =
      text !== undefined &&
      text === old.metadata.annotations?.[field.key] &&
      text === fieldText(old.spec?.failurePolicy, field);
    return isKept ? [[field.key, text] as const] : [];
  });
  return withFieldsOf(jobSet, Object.fromEntries(kept));
}

/** Errors for annotations that would change a field. An annotation with its present value passes. */
export function fieldChangeErrors(old: JobSet, jobSet: JobSet): readonly FieldError[] {
  const policy = asRecorded(old).spec?.failurePolicy;
  return FIELD_ANNOTATIONS.flatMap((field) => {
    const [before, after] = [old, jobSet].map(({ metadata }) => metadata.annotations?.[field.key]);
    const is = fieldText(policy, field);
    const isInEffect = after === undefined ? before === is : after !== is;
    if (before === after || !isInEffect) return [];
    const detail = `it stands for spec.failurePolicy.${field.member}, which is ${is} and immutable`;
    return [invalidValue(`metadata.annotations[${field.key}]`, after ?? '', detail)];
  });
}
