/**
 * Annotations that are neither in the spec nor in the metadata of a JobSet: annotations for fields
 * that no webhook wrote, and the defaults of its Namespace. The first status records them. From then
 * on only the record counts, so later edits change no JobSet that runs.
 */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { annotationsOn } from '../annotations/table.ts';
import type { JobSet } from '../jobset.ts';
import { FIELD_ANNOTATIONS, fieldText, withFieldsOf } from './field-annotations.ts';

/** There are never more keys, or longer values. */
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
