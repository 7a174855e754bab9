/** Computes the JSON Patch between two documents. */
import { deepEqual } from '../json/deep-equal.ts';
import { isJsonObject, type JsonObject, ownMember } from '../json/json-value.ts';
import type { JsonPatchOperation } from './json-patch.ts';
import { JsonPointer } from './json-pointer.ts';

/**
 * The patch that turns `from` into `to`. It touches only what differs: members one by one, and in a
 * list the stretch between the equal items at both ends. Equal documents give no operations. A
 * member with the value `undefined` counts as absent, as in `JSON.stringify`.
 */
export function jsonPatchDiff(from: unknown, to: unknown): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare('', from, to, operations);
  return operations;
}

function compare(path: string, from: unknown, to: unknown, found: JsonPatchOperation[]): void {
  if (Array.isArray(from) && Array.isArray(to)) compareLists(path, from, to, found);
  else if (isJsonObject(from) && isJsonObject(to)) compareObjects(path, from, to, found);
  else if (from !== to) found.push({ op: 'replace', path, value: to });
}

function compareObjects(
  path: string,
  from: JsonObject,
  to: JsonObject,
  found: JsonPatchOperation[],
): void {
  for (const key of Object.keys(from)) {
    const before = from[key];
    if (before === undefined) continue;
    const after = ownMember(to, key);
    const at = `${path}/${JsonPointer.escaped(key)}`;
    if (after === undefined) found.push({ op: 'remove', path: at });
    else compare(at, before, after, found);
  }
  for (const key of Object.keys(to)) {
    const value = to[key];
    if (value === undefined || ownMember(from, key) !== undefined) continue;
    found.push({ op: 'add', path: `${path}/${JsonPointer.escaped(key)}`, value });
  }
}

function compareLists(
  path: string,
  from: readonly unknown[],
  to: readonly unknown[],
  found: JsonPatchOperation[],
): void {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  let end = 0;
  // Lists of one length are compared item by item.
  if (from.length !== to.length) {
    while (start < shorter && deepEqual(from[start], to[start])) start++;
    const rest = shorter - start;
    while (end < rest && deepEqual(from.at(-1 - end), to.at(-1 - end))) end++;
  }
  for (let at = start; at < shorter - end; at++) compare(`${path}/${at}`, from[at], to[at], found);
  // Removes from the end, so that earlier indexes stay valid.
  for (let at = from.length - end - 1; at >= shorter - end; at--) {
    found.push({ op: 'remove', path: `${path}/${at}` });
  }
  for (let at = shorter - end; at < to.length - end; at++) {
    found.push({ op: 'add', path: `${path}/${at}`, value: to[at] });
  }
}
