/**
 * Annotations of a Namespace are the defaults of the JobSets in it: weaker than a JobSet's own, and
 * stronger than the operator's settings. A default that the JobSet itself could not have is ignored
 * with a warning, because the author of a JobSet cannot mend its Namespace.
 */
import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { annotationsOn } from '../annotations/table.ts';
import { adviceOn } from '../annotations/unknown-annotations.ts';
import { withDefaults } from '../defaults.ts';
import { hubErrors } from '../injection/agent-hub.ts';
import type { JobSet } from '../jobset.ts';
import { OWN_PREFIX } from '../names.ts';
import { FIELD_ANNOTATIONS, fieldText, withFieldsOf } from '../overrides/field-annotations.ts';
import { toRecord } from '../overrides/recorded-annotations.ts';
import type { Recording } from '../overrides/recording.ts';
import { annotationValueErrors } from './validation.ts';

const KEYS = annotationsOn('Namespace');
const JOBSET_KEYS = annotationsOn('JobSet');
const OF_FIELDS: ReadonlyMap<string, (typeof FIELD_ANNOTATIONS)[number]> = new Map(
  FIELD_ANNOTATIONS.map((field) => [field.key, field]),
);

/** People read few, and a value may be as long as all annotations together. */
const MAX_TOLD = 5;
const MAX_TOLD_CHARACTERS = 400;

export interface WithNamespaceDefaults<T> {
  readonly jobSet: T;
  /** One line for each default that is ignored. */
  readonly problems: readonly string[];
}

/** `jobSet` has the shape of its schema. Its fields do not yet follow its own annotations. */
export function withNamespaceDefaults<T extends JobSet>(
  jobSet: T,
  ofNamespace: StringMap,
  servesHub: boolean,
): WithNamespaceDefaults<T> {
  const problems: string[] = [];
  let completed = jobSet;
  // Fields first: the other keys count only with a restart in place.
  for (const key of [...OF_FIELDS.keys(), ...[...KEYS].filter((one) => !OF_FIELDS.has(one))]) {
    const value = ofNamespace[key];
    if (value === undefined || jobSet.metadata.annotations?.[key] !== undefined) continue;
    const next = annotated(completed, key, value);
    const before = new Set(errorsOf(completed, servesHub));
    const error = errorsOf(next, servesHub).find((one) => !before.has(one));
    if (error !== undefined) problems.push(error);
    else if (counts(completed, key)) completed = next;
  }
  for (const key of Object.keys(ofNamespace)) {
    if (!key.startsWith(OWN_PREFIX) || KEYS.has(key)) continue;
    const why = JOBSET_KEYS.has(key) ? 'it belongs to one JobSet' : adviceOn(key);
    problems.push(`metadata.annotations[${key}]: ${why}`);
  }
  return {
    jobSet: completed,
    problems: problems
      .slice(0, MAX_TOLD)
      .map((one) => `a default of the Namespace is ignored: ${one.slice(0, MAX_TOLD_CHARACTERS)}`),
  };
}

/** `lacks` names fields of the status that the stored definition does not have. */
export function recordingOf(
  jobSet: JobSet,
  ofNamespace: StringMap,
  {
    servesHub,
    lacks,
  }: { readonly servesHub: boolean; readonly lacks?: ReadonlySet<string> | undefined },
): Recording {
  const { jobSet: completed, problems } = withNamespaceDefaults(jobSet, ofNamespace, servesHub);
  const isKept = lacks?.has('recordedAnnotations') !== true;
  return { annotations: toRecord(jobSet, completed), isKept, problems };
}

/**
 * Whether a default counts. A field with the definition's default counts as not set, because nothing
 * shows who filled it in. All other keys are about restarts in place.
 */
function counts(jobSet: JobSet, key: string): boolean {
  const field = OF_FIELDS.get(key);
  const policy = jobSet.spec?.failurePolicy;
  if (field !== undefined) return fieldText(policy, field) === String(field.absent);
  return withFieldsOf(jobSet).spec?.failurePolicy?.restartStrategy === 'InPlaceRestart';
}

function annotated<T extends JobSet>(jobSet: T, key: string, value: string): T {
  const annotations = { ...jobSet.metadata.annotations, [key]: value };
  return { ...jobSet, metadata: { ...jobSet.metadata, annotations } };
}

function errorsOf(jobSet: JobSet, servesHub: boolean): readonly string[] {
  const { annotations } = jobSet.metadata;
  const errors = annotationValueErrors(jobSet, withDefaults(jobSet.spec));
  return [...errors, ...hubErrors(annotations, servesHub)].map(formatFieldError);
}
