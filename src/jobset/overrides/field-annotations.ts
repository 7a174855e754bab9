/**
 * Annotations that set fields of `spec.failurePolicy`, for users whose wrapper does not let them
 * write the fields. An annotation is stronger than its field, because the wrapper's own definition
 * may have filled the field in.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { FailurePolicy, JobSet, RestartStrategy } from '../jobset.ts';
import { MAX_RESTARTS, RESTART_STRATEGY } from '../names.ts';

interface FieldAnnotation {
  readonly key: string;
  readonly member: 'restartStrategy' | 'maxRestarts';
  /** Undefined: the value is wrong. */
  readonly parse: (text: string) => RestartStrategy | number | undefined;
  readonly expected: string;
  /** The default in the definition. */
  readonly absent: RestartStrategy | number;
}

const STRATEGIES: readonly RestartStrategy[] = ['InPlaceRestart', 'Recreate', 'BlockingRecreate'];
/** The largest int32, as in the field. */
const MOST_RESTARTS = 2_147_483_647;

export const FIELD_ANNOTATIONS: readonly FieldAnnotation[] = [
  {
    key: RESTART_STRATEGY,
    member: 'restartStrategy',
    parse: (text) => STRATEGIES.find((strategy) => strategy === text),
    expected: `expected one of ${STRATEGIES.join(', ')}`,
    absent: 'Recreate',
  },
  {
    key: MAX_RESTARTS,
    member: 'maxRestarts',
    parse: (text) =>
      /^(0|[1-9]\d{0,9})$/.test(text) && Number(text) <= MOST_RESTARTS ? Number(text) : undefined,
    expected: `expected a whole number from 0 to ${MOST_RESTARTS}`,
    absent: 0,
  },
];

export function fieldAnnotationErrors(annotations: StringMap | undefined): readonly FieldError[] {
  return FIELD_ANNOTATIONS.flatMap(({ key, parse, expected }) => {
    const text = annotations?.[key];
    if (text === undefined || parse(text) !== undefined) return [];
    return [invalidValue(`metadata.annotations[${key}]`, text, expected)];
  });
}

/**
 * The JobSet with the fields that `annotations` set, by default its own. Wrong values set nothing. A
 * spec of another shape stays as it is: the schema refuses it.
 */
export function withFieldsOf<T extends JobSet>(
  jobSet: T,
  annotations: StringMap | undefined = jobSet.metadata.annotations,
): T {
  const policy: unknown = jobSet.spec?.failurePolicy ?? {};
  if (!isJsonObject(policy)) return jobSet;
  const wanted = FIELD_ANNOTATIONS.flatMap(({ key, member, parse }) => {
    const text: unknown = annotations?.[key];
    const value = typeof text === 'string' ? parse(text) : undefined;
    return value === undefined || value === policy[member] ? [] : [[member, value] as const];
  });
  if (wanted.length === 0) return jobSet;
  const failurePolicy = { ...policy, ...Object.fromEntries(wanted) };
  return { ...jobSet, spec: { ...jobSet.spec, failurePolicy } };
}

/** The value of a field, as the text of its annotation. */
export function fieldText(
  policy: FailurePolicy | undefined,
  { member, absent }: Pick<FieldAnnotation, 'member' | 'absent'>,
): string {
  return String(policy?.[member] ?? absent);
}
