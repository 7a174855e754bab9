/** Merges a configuration into a live object. */
import {
  isJsonObject,
  type JsonObject,
  ownMember,
  setMember,
} from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { listElement, memberSchema, mergeTypeOf } from './merge-type.ts';
import type { PathElement } from './path-element.ts';

/**
 * Merges `configuration` into `live`. The configuration wins, and everything else stays. `live` is
 * not changed; the result may share parts with both. No list of the configuration has two elements
 * with one key.
 */
export function mergeConfiguration(
  live: unknown,
  configuration: unknown,
  schema: JsonSchema | undefined,
): unknown {
  if (configuration === undefined) return live;
  if (live === undefined) return configuration;
  switch (mergeTypeOf(schema, configuration)) {
    case 'Leaf':
      return configuration;
    case 'List':
      return mergeLists(live, configuration, schema);
    case 'Map':
      return mergeMaps(live, configuration, schema);
  }
}

function mergeMaps(live: unknown, configuration: unknown, schema: JsonSchema | undefined): unknown {
  const [before, wanted] = [objectOf(live), objectOf(configuration)];
  if (Object.keys(before).length === 0) return configuration;
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(wanted)) {
    const member = ownMember(before, name);
    setMember(merged, name, mergeConfiguration(member, value, memberSchema(schema, name)));
  }
  return merged;
}

interface Indexed {
  readonly elements: readonly PathElement[];
  readonly items: readonly unknown[];
  /** Undefined for an element that occurs twice, which cannot be merged. */
  readonly byElement: ReadonlyMap<PathElement, unknown>;
}

/**
 * Merges the elements of two lists. Elements in both are in the configuration's order. An element
 * in only one of them keeps its place relative to those; in between, elements of the live list come
 * first.
 */
function mergeLists(
  live: unknown,
  configuration: unknown,
  schema: JsonSchema | undefined,
): unknown {
  const left = indexed(live, schema);
  const right = indexed(configuration, schema);
  if (left.items.length === 0) return configuration;
  const merged: unknown[] = [];
  const taken = new Set<PathElement>();
  const shared = right.elements.filter((element) => left.byElement.has(element));
  let [atLeft, atRight, atShared] = [0, 0, 0];
  const takeRight = (element: PathElement): void => {
    taken.add(element);
    const [before, wanted] = [left.byElement.get(element), right.byElement.get(element)];
    merged.push(mergeConfiguration(before, wanted, schema?.items));
    atRight++;
    if (shared[atShared] === element) atShared++;
  };
  while (atLeft < left.elements.length || atRight < right.elements.length) {
    const [ours, theirs] = [left.elements[atLeft], right.elements[atRight]];
    if (ours !== undefined && ours === theirs) {
      atLeft++;
      takeRight(theirs);
    } else if (ours !== undefined && !right.byElement.has(ours)) {
      merged.push(left.items[atLeft++]);
    } else if (ours !== undefined && (theirs === undefined || isElsewhere(ours))) {
      atLeft++;
    } else if (theirs !== undefined) takeRight(theirs);
  }
  return merged;

  /** Already merged, or to be merged at its place in the configuration. */
  function isElsewhere(element: PathElement): boolean {
    const next = shared[atShared];
    return taken.has(element) || (next !== undefined && next !== element);
  }
}

function indexed(list: unknown, schema: JsonSchema | undefined): Indexed {
  const elements: PathElement[] = [];
  const items: unknown[] = [];
  const byElement = new Map<PathElement, unknown>();
  for (const item of Array.isArray(list) ? list : []) {
    const found = listElement(schema, item);
    if ('problem' in found) continue;
    elements.push(found.element);
    items.push(item);
    byElement.set(found.element, byElement.has(found.element) ? undefined : item);
  }
  return { elements, items, byElement };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
