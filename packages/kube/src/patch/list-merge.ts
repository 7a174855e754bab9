/** Merges lists for strategic merge patch. */
import { isJsonObject, type JsonObject, ownMember } from '../json/json-value.ts';
import { failure } from '../status.ts';
import { badRequest } from '../status-errors.ts';
import { cleaned, DIRECTIVE } from './directives.ts';

/** How the elements of a list are identified and merged. */
export interface ListStrategy {
  /** The field's name, for messages. */
  readonly field: string;
  /** The member that identifies an element; absent for a list of scalars, which identify themselves. */
  readonly mergeKey: string | undefined;
  merge(original: JsonObject, patch: JsonObject): JsonObject;
}

type List = readonly unknown[];

/**
 * Merges a patch into a list. Elements of the patch stand in the order of the patch, those that
 * only the server has in their own. Between the two, the server's order decides if it can;
 * otherwise the patch comes first.
 */
export function mergeLists(original: List, patch: List, strategy: ListStrategy): List {
  requireOneKind(original, patch);
  const [sample = patch[0]] = original;
  if (!isJsonObject(sample)) {
    return arranged([...new Set([...original, ...patch])], patch, original, strategy);
  }
  const changes = changesIn(patch, strategy);
  if (changes.isReplacement) return changes.elements.map(cleaned);
  const kept = original.filter((element) => !changes.deleted.has(keyOf(element, strategy)));
  return arranged(
    mergeElements(kept, changes.elements, strategy),
    changes.elements,
    kept,
    strategy,
  );
}

/** Scalars of `list` that are not in `toDelete`. */
export function deleteFromList(list: List, toDelete: List): List {
  const deleted = new Set(toDelete);
  return list.filter((element) => !deleted.has(element));
}

/** Puts a merged list into the order that the client gave for the elements that it knows. */
export function orderList(
  merged: List,
  original: List,
  patch: List,
  order: List,
  strategy: ListStrategy,
): List {
  requireFollows(patch, order, strategy);
  return arranged(merged, order, original, strategy);
}

interface Changes {
  readonly elements: readonly JsonObject[];
  /** Keys of deleted elements. */
  readonly deleted: ReadonlySet<unknown>;
  readonly isReplacement: boolean;
}

function changesIn(patch: List, strategy: ListStrategy): Changes {
  const elements: JsonObject[] = [];
  const deleted = new Set<unknown>();
  let isReplacement = false;
  for (const element of patch) {
    if (!isJsonObject(element)) continue;
    const directive = ownMember(element, DIRECTIVE);
    switch (directive) {
      case undefined:
        keyOf(element, strategy);
        elements.push(element);
        break;
      case 'delete':
        deleted.add(keyOf(element, strategy));
        break;
      case 'replace':
        isReplacement = true;
        break;
      case 'merge':
        throw badRequest('merging lists cannot yet be specified in the patch');
      default:
        throw badRequest(`unknown patch type: ${JSON.stringify(directive)} in ${strategy.field}`);
    }
  }
  return { elements, deleted, isReplacement };
}

function mergeElements(
  original: List,
  patch: readonly JsonObject[],
  strategy: ListStrategy,
): unknown[] {
  const merged = [...original];
  const positions = new Map(ranksOf(original, strategy));
  for (const element of patch) {
    const key = keyOf(element, strategy);
    const at = positions.get(key);
    const current = at === undefined ? undefined : merged[at];
    if (at === undefined) {
      positions.set(key, merged.length);
      merged.push(cleaned(element));
    } else if (isJsonObject(current)) merged[at] = strategy.merge(current, element);
  }
  return merged;
}

/**
 * Puts elements of `wanted` into its order and all others into the order of `original`, and joins
 * the two. An element that only the server has goes before one of `wanted` only if it did in
 * `original`.
 */
function arranged(list: List, wanted: List, original: List, strategy: ListStrategy): List {
  const [wantedAt, originalAt] = [ranksOf(wanted, strategy), ranksOf(original, strategy)];
  const rank = (ranks: Ranks, element: unknown): number =>
    ranks.get(keyOf(element, strategy)) ?? Number.MAX_SAFE_INTEGER;
  const isWanted = (element: unknown): boolean => wantedAt.has(keyOf(element, strategy));
  const known = list.filter(isWanted).sort((a, b) => rank(wantedAt, a) - rank(wantedAt, b));
  const others = list
    .filter((element) => !isWanted(element))
    .sort((a, b) => rank(originalAt, a) - rank(originalAt, b));
  const joined: unknown[] = [];
  let next = 0;
  for (const other of others) {
    const stays = (one: unknown): boolean =>
      originalAt.has(keyOf(one, strategy)) && rank(originalAt, other) < rank(originalAt, one);
    while (next < known.length && !stays(known[next])) joined.push(known[next++]);
    joined.push(other);
  }
  return [...joined, ...known.slice(next)];
}

type Ranks = ReadonlyMap<unknown, number>;

/** The first position of each key. */
function ranksOf(list: List, strategy: ListStrategy): Ranks {
  const ranks = new Map<unknown, number>();
  list.forEach((element, at) => {
    const key = keyOf(element, strategy);
    if (!ranks.has(key)) ranks.set(key, at);
  });
  return ranks;
}

/** Requires the elements of the patch to follow the order that it gives for all. */
function requireFollows(patch: List, order: List, strategy: ListStrategy): void {
  if (order.length === 0) return;
  const keys = order.map((element) => keyOf(element, strategy));
  let at = 0;
  for (const element of patch) {
    if (isJsonObject(element) && Object.hasOwn(element, DIRECTIVE)) continue;
    const found = keys.indexOf(keyOf(element, strategy), at);
    if (found < 0) {
      const lists = `${JSON.stringify(patch)} doesn't match $setElementOrder list: ${JSON.stringify(order)}`;
      throw badRequest(`The order in patch list: ${lists}`);
    }
    at = found + 1;
  }
}

function keyOf(element: unknown, { field, mergeKey }: ListStrategy): unknown {
  if (!isJsonObject(element)) return element;
  if (mergeKey === undefined) {
    throw badRequest(`cannot merge lists without merge key for ${field}`);
  }
  const key = ownMember(element, mergeKey);
  if (key !== undefined) return key;
  const shown = JSON.stringify(element);
  throw badRequest(`${field}: map: ${shown} does not contain declared merge key: ${mergeKey}`);
}

function requireOneKind(original: List, patch: List): void {
  const kinds = new Set([...original, ...patch].map(kindOf));
  if (kinds.has('array')) throw failure('Invalid', 'lists of lists are not supported');
  if (kinds.size > 1) {
    const lists = `${JSON.stringify(original)} ${JSON.stringify(patch)}`;
    throw badRequest(`list element types are not identical: ${lists}`);
  }
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}
