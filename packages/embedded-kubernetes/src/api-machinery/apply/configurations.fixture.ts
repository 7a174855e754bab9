/** Configurations of a kind that has every way in which fields are merged. */

import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import {
  atomic,
  atomicList,
  defaulted,
  int32,
  list,
  listMap,
  map,
  object,
  preserveUnknown,
  set,
  string,
} from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { constant, dictionary, integer, option, record, subarray, uniqueArray } from 'fast-check';

const PORT = object({ port: int32(), protocol: defaulted('TCP', string()), name: string() });
const ITEM = object({ name: string(), value: string(), tags: set(string()) });

export const SCHEMA: JsonSchema = object({
  apiVersion: string(),
  kind: string(),
  metadata: object({ name: string(), labels: map(string()), managedFields: list(string()) }),
  spec: object({
    text: string(),
    labels: map(string()),
    selector: atomic(map(string())),
    finalizers: set(string()),
    items: listMap(['name'], ITEM),
    ports: listMap(['port', 'protocol'], PORT),
    args: atomicList(string()),
    nested: object({ x: string(), y: object({ z: string() }) }),
    free: preserveUnknown(),
  }),
  status: object({ phase: string() }),
});

const NAMES = ['a', 'b', 'c'];
const text = constant('1').chain(() => subarray(['1', '2', '3'], { minLength: 1, maxLength: 1 }));
const value = text.map(([first = '1']) => first);
const names = dictionary(
  integer({ min: 0, max: 2 }).map((at) => NAMES[at] ?? 'a'),
  value,
  { minKeys: 1 },
);
const items = subarray(NAMES, { minLength: 1 }).chain((chosen) =>
  record({ values: uniqueArray(value), tags: subarray(NAMES, { minLength: 1 }) }).map(
    ({ values, tags }) =>
      chosen.map((name, at) => ({
        name,
        ...(values[at] === undefined ? {} : { value: values[at], tags }),
      })),
  ),
);
const ports = subarray([80, 443], { minLength: 1 }).map((chosen) =>
  chosen.flatMap((port) => [{ port }, { port, protocol: 'UDP', name: `udp-${port}` }]),
);

const FIELDS = {
  text: value,
  labels: names,
  selector: names,
  finalizers: subarray(NAMES, { minLength: 1 }),
  items,
  ports,
  args: subarray(NAMES),
  nested: record({ x: value, y: record({ z: value }) }, { requiredKeys: ['x'] }),
  free: record({ deep: record({ x: value }), list: subarray(NAMES) }, { requiredKeys: ['deep'] }),
};

/** Leaves out empty objects, which would be fields of their own. */
export const specs = record(FIELDS, { requiredKeys: ['text'] });
export const someSpecs = option(specs, { nil: undefined });
/** Names of fields of the spec. */
export const someFields = subarray(Object.keys(FIELDS));

export function configuration(spec: JsonObject | undefined): JsonObject {
  const head = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one' } };
  return spec === undefined ? head : { ...head, spec };
}
