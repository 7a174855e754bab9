/**
 * Changes of a JobSet that a user might try: generated from its schema, and for annotations from a list
 * of values. Whether a change is allowed is not their concern.
 */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { JsonPatchOperation } from '@lockstep/kube/patch/json-patch.ts';
import { JsonPointer } from '@lockstep/kube/patch/json-pointer.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { annotationsOn } from '../../jobset/annotations/table.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import * as names from '../../jobset/names.ts';
import { JOBSET_SCHEMA } from '../../jobset/schema/schema.ts';

export interface Mutation {
  /** What it does and where, such as `add /spec/suspend true`: unique among all. */
  readonly name: string;
  /** The JSON pointer of the first field that it changes. */
  readonly path: string;
  readonly operations: readonly JsonPatchOperation[];
}

/** A number for a field that has none: seconds that a group needs to start, and more Pods than fit anywhere. */
const ABSENT_NUMBER = 40;
/** Generated values are objects in objects up to this many times. */
const MAX_DEPTH = 4;

/** All mutations of a JobSet with these fields. Deterministic, in the order of the schema. */
export function mutationsOf(jobSet: JobSet): readonly Mutation[] {
  const spec = JOBSET_SCHEMA.properties?.['spec'];
  if (spec === undefined) throw new Error('the schema of a JobSet has no spec');
  return [
    ...fieldMutations(spec, jobSet.spec, '/spec'),
    ...sizeMutations(jobSet),
    ...annotationMutations(jobSet),
  ];
}

/** Changes of one field at a time: another value, one more, one less. The first item of a list is changed. */
function fieldMutations(schema: JsonSchema, value: unknown, path: string): readonly Mutation[] {
  const { properties, required = [], items, additionalProperties } = schema;
  if (properties !== undefined && isJsonObject(value)) {
    return Object.entries(properties).flatMap(([name, property]) => {
      const at = `${path}/${JsonPointer.escaped(name)}`;
      const member = value[name];
      if (member === undefined) return added(at, sampleOf(property, MAX_DEPTH));
      const less = required.includes(name) ? [] : [removal(at)];
      return [...fieldMutations(property, member, at), ...less];
    });
  }
  if (items !== undefined && Array.isArray(value)) {
    const last = value.length - 1;
    return [
      ...(last < 0 ? [] : [...fieldMutations(items, value[0], `${path}/0`)]),
      ...(last < 0 ? [] : [removal(`${path}/${last}`)]),
      ...added(`${path}/-`, sampleOf(items, MAX_DEPTH)),
    ];
  }
  if (typeof additionalProperties === 'object' && isJsonObject(value)) {
    const [first] = Object.keys(value);
    const more = added(`${path}/added`, sampleOf(additionalProperties, MAX_DEPTH));
    if (first === undefined) return more;
    const at = `${path}/${JsonPointer.escaped(first)}`;
    return [...fieldMutations(additionalProperties, value[first], at), removal(at), ...more];
  }
  return othersThan(value, schema).map((other) => mutation('replace', path, other));
}

function othersThan(value: unknown, { enum: allowed, ...schema }: JsonSchema): readonly unknown[] {
  if (allowed !== undefined) return allowed.filter((each) => each !== value && each !== '');
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, value - 1];
  if (typeof value === 'string' && schema.format === undefined) return [`${value}2`];
  return [];
}

/** The smallest value that fits the schema and means something; undefined if none is known. */
function sampleOf(schema: JsonSchema, depth: number): unknown {
  const { enum: allowed, type, properties, required = [], items, additionalProperties } = schema;
  if (depth === 0) return undefined;
  if (allowed !== undefined) return allowed.find((value) => value !== '');
  switch (type) {
    case 'string':
      return 'other';
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, ABSENT_NUMBER);
    case 'boolean':
      return true;
    case 'array': {
      const item = items && sampleOf(items, depth - 1);
      return item === undefined ? undefined : [item];
    }
    case 'object': {
      if (typeof additionalProperties === 'object') {
        const value = sampleOf(additionalProperties, depth - 1);
        return value === undefined ? undefined : { added: value };
      }
      const [first] = Object.keys(properties ?? {});
      const chosen = required.length > 0 ? required : first === undefined ? [] : [first];
      const members = chosen.map((name) => [name, sampleOf(properties?.[name] ?? {}, depth - 1)]);
      const isWhole = members.length > 0 && members.every(([, member]) => member !== undefined);
      return isWhole ? Object.fromEntries(members) : undefined;
    }
    case undefined:
      break;
  }
  return schema['x-kubernetes-int-or-string'] === true ? '2' : undefined;
}

/** The numbers of Pods and completions change only together. */
function sizeMutations({ spec }: JobSet): readonly Mutation[] {
  return (spec.replicatedJobs ?? []).flatMap(({ template }, index) => {
    const { parallelism = 1 } = template.spec;
    return [parallelism + 1, Math.max(1, parallelism - 1)]
      .filter((pods) => pods !== parallelism)
      .map((pods) => {
        const at = `/spec/replicatedJobs/${index}/template/spec`;
        const operations = ['parallelism', 'completions'].map(
          (field) => ({ op: 'replace', path: `${at}/${field}`, value: pods }) as const,
        );
        return {
          name: `replace ${at}/{parallelism,completions} ${pods}`,
          path: `${at}/parallelism`,
          operations,
        };
      });
  });
}

/** Right and wrong values of each annotation that a JobSet may have. */
const ANNOTATION_VALUES: Readonly<Record<string, readonly string[]>> = {
  [names.RESTART_STRATEGY]: ['Recreate', 'InPlaceRestart'],
  [names.MAX_RESTARTS]: ['6', '5'],
  [names.RESTART_MODE]: ['Supervisor', 'Sidecar'],
  [names.AGENT_INJECTION]: ['Off'],
  [names.AGENT_CHANNEL]: ['API', 'Hub'],
  [names.LOST_NODE_DEADLINE]: ['5m'],
  [names.RESTART_BACKOFF]: ['Off'],
  [names.PROGRESS_TIMEOUT]: ['Off', 'Auto', '60s', 'soon'],
  [names.FIRST_PROGRESS_TIMEOUT]: ['60s', '1s'],
  [names.PROGRESS_PREFIX]: ['step='],
  [names.STANDBY]: ['Warm'],
  [names.PROCESSES_PER_POD]: ['8'],
  [names.LOG_PREFIX]: ['Off'],
  [names.HANG_COMMAND]: ['true'],
  [names.PREFLIGHT]: ['true'],
  [names.LAST_WORDS]: ['Files'],
  [names.STOP_GRACE]: ['7s', '7ms'],
  [names.KEEP_FAILED]: ['1h'],
  [names.REPLACE_AFTER]: ['3/1h', '3'],
  [names.MAX_RESTARTS_WITHOUT_PROGRESS]: ['9'],
  [names.EXTRA_RESTARTS]: ['1', '-1'],
  [names.RESTART_EPOCH]: ['1', '99', '0'],
  [names.DISABLE_IN_PLACE_RESTART]: ['true', 'false'],
  [names.FORGET_NODES]: ['node-0@2026-01-01T00:00:00Z', 'node-0'],
};

/** Annotations without values in the list above; a test holds that there are none. */
export function unlistedAnnotations(): readonly string[] {
  return [...annotationsOn('JobSet')].filter((key) => !Object.hasOwn(ANNOTATION_VALUES, key));
}

function annotationMutations({ metadata }: JobSet): readonly Mutation[] {
  const { annotations = {} } = metadata;
  const values = Object.entries(ANNOTATION_VALUES).flatMap(([key, all]) =>
    all
      .filter((value) => value !== annotations[key])
      .map((value) => mutation('add', annotationPath(key), value)),
  );
  return [...values, ...Object.keys(annotations).map((key) => removal(annotationPath(key)))];
}

function annotationPath(key: string): string {
  return `/metadata/annotations/${JsonPointer.escaped(key)}`;
}

function added(path: string, value: unknown): readonly Mutation[] {
  return value === undefined ? [] : [mutation('add', path, value)];
}

function mutation(op: 'add' | 'replace', path: string, value: unknown): Mutation {
  return {
    name: `${op} ${path} ${JSON.stringify(value)}`,
    path,
    operations: [{ op, path, value }],
  };
}

function removal(path: string): Mutation {
  return { name: `remove ${path}`, path, operations: [{ op: 'remove', path }] };
}
