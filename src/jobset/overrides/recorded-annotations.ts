/**
 * Annotations that a JobSet obeys without having them in its spec or its metadata: those that set
 * fields, where no webhook wrote the fields, and the defaults of its Namespace. The first status
 * records them, and from then on only the record counts, so nothing that somebody edits later
 * changes a JobSet that runs.
 */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { annotationsOn } from '../annotations/table.ts';
import type { JobSet } from '../jobset.ts';
import { FIELD_ANNOTATIONS, fieldText, withFieldsOf } from './field-annotations.ts';

/** More keys do not exist, and no value is longer. */
export const MAX_RECORDED_ANNOTATIONS = 64;
export const MAX_RECORDED_CHARACTERS = 4096;

const RECORDABLE = annotationsOn('Namespace');
const OF_FIELDS: ReadonlySet<string> = new Set(FIELD_ANNOTATIONS.map(({ key }) => key));

/**
 * The JobSet as it is acted on. Its own annotation is stronger than a recorded default, except for
 * fields, which do not change. Doing it twice changes nothing.
 */
export function asRecorded<T extends JobSet>(
  jobSet: T,
  record: StringMap | undefined = jobSet.status?.recordedAnnotations,
): T {
  // A webhook reads it before the schema does.
  if (!isJsonObject(record)) return jobSet;
  const { annotations = {} } = jobSet.metadata;
  const entries = Object.entries(record).filter(
    ([key, value]) => RECORDABLE.has(key) && typeof value === 'string',
  );
  const missing = entries.filter(([key]) => !OF_FIELDS.has(key) && annotations[key] === undefined);
  const read = withFieldsOf(jobSet, Object.fromEntries(entries));
  if (missing.length === 0) return read;
  const filled = { ...annotations, ...Object.fromEntries(missing) };
  return { ...read, metadata: { ...read.metadata, annotations: filled } };
}

/** What the first status of `given` records so that it is acted on as `completed`, which has defaults. */
export function toRecord(given: JobSet, completed: JobSet): StringMap {
  const { annotations = {} } = completed.metadata;
  const [before, after] = [given, withFieldsOf(completed)].map(({ spec }) => spec?.failurePolicy);
  const fields = FIELD_ANNOTATIONS.flatMap((field) => {
    const text = fieldText(after, field);
    return text === fieldText(before, field) ? [] : [[field.key, text] as const];
  });
  const others = [...RECORDABLE].flatMap((key) => {
    const value = annotations[key];
    const isNew = value !== undefined && given.metadata.annotations?.[key] === undefined;
    return isNew && !OF_FIELDS.has(key) ? [[key, value] as const] : [];
  });
  return Object.fromEntries([...fields, ...others]);
}
