/** JSON Patch (RFC 6902), complete and strict. */
import { clone } from '../json/clone.ts';
import { deepEqual } from '../json/deep-equal.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../json/json-depth.ts';
import { isJsonObject, setMember } from '../json/json-value.ts';
import { quote } from '../quote.ts';
import { type ApiStatusError, failure } from '../status.ts';
import { badRequest, requestEntityTooLarge } from '../status-errors.ts';
import { JsonPointer } from './json-pointer.ts';

/**
 * There is one addition, which the API server has and optimistic writers need: `test` with the
 * value `null` holds for an absent member.
 */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** The API server's limit. */
const MAX_JSON_PATCH_OPERATIONS = 10_000;

/**
 * Throws 400 `BadRequest` that names the operation and the field, or 413 for too many operations.
 */
export function parseJsonPatch(body: unknown): readonly JsonPatchOperation[] {
  if (!Array.isArray(body)) throw badRequest('a JSON patch must be a list of operations');
  if (body.length > MAX_JSON_PATCH_OPERATIONS) {
    throw requestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_JSON_PATCH_OPERATIONS}, got ${body.length}`,
    );
  }
  return body.map(parseOperation);
}

/**
 * The patched document; `document` stays as it is. Throws 422 `Invalid` if an operation does not
 * apply or a test fails; then nothing was applied.
 */
export function applyJsonPatch(
  document: unknown,
  operations: readonly JsonPatchOperation[],
): unknown {
  const patched = new PatchedDocument(document);
  for (const operation of operations) patched.apply(operation);
  return patched.root;
}

function parseOperation(operation: unknown, at: number): JsonPatchOperation {
  const field = (name: string): string => `[${at}].${name}`;
  if (!isJsonObject(operation)) throw badRequest(`json patch [${at}]: must be an object`);
  const { op } = operation;
  switch (op) {
    case 'remove':
      return { op, path: pointerIn(operation, 'path', field('path')) };
    case 'move':
    case 'copy': {
      const from = pointerIn(operation, 'from', field('from'));
      return { op, from, path: pointerIn(operation, 'path', field('path')) };
    }
    case 'add':
    case 'replace':
    case 'test': {
      const path = pointerIn(operation, 'path', field('path'));
      if (!Object.hasOwn(operation, 'value')) {
        throw badRequest(`json patch ${field('value')}: Required value`);
      }
      return { op, path, value: operation['value'] };
    }
    default: {
      const known = 'supported values: "add", "copy", "move", "remove", "replace", "test"';
      const given = typeof op === 'string' ? quote(op) : (JSON.stringify(op) ?? 'nothing');
      throw badRequest(`json patch ${field('op')}: Unsupported value: ${given}: ${known}`);
    }
  }
}

function pointerIn(
  operation: Readonly<Record<string, unknown>>,
  name: 'path' | 'from',
  field: string,
): string {
  const text = Object.hasOwn(operation, name) ? operation[name] : undefined;
  if (typeof text !== 'string') throw badRequest(`json patch ${field}: must be a string`);
  const wrong = JsonPointer.error(text);
  if (wrong === undefined) return text;
  throw badRequest(`json patch ${field}: Invalid value: ${quote(text)}: ${wrong}`);
}

/** How much `copy` may add in total, in nodes and characters: each copy can double a document. */
const MAX_COPIED_SIZE = 3 * 1024 * 1024;

type Container = unknown[] | Record<string, unknown>;

/** A copy of the document, which operations change in place. */
class PatchedDocument {
  root: unknown;
  #copiedSize = 0;

  constructor(document: unknown) {
    this.root = clone(document);
  }

  apply(operation: JsonPatchOperation): void {
    const path = new JsonPointer(operation.path);
    switch (operation.op) {
      case 'add':
        this.#add(operation.op, path, clone(operation.value));
        return;
      case 'replace':
        this.#replace(path, clone(operation.value));
        return;
      case 'remove':
        this.#remove(operation.op, path);
        return;
      case 'test':
        this.#test(path, operation.value);
        return;
      case 'copy': {
        const value = this.#get(operation.op, new JsonPointer(operation.from));
        this.#copiedSize += sizeOf(value);
        if (this.#copiedSize > MAX_COPIED_SIZE) {
          throw refused(`copy operations add more than ${MAX_COPIED_SIZE} bytes to the document`);
        }
        this.#requireDepth(path, value);
        this.#add(operation.op, path, clone(value));
        return;
      }
      case 'move':
        this.#move(new JsonPointer(operation.from), path);
        return;
      default:
        operation satisfies never;
    }
  }

  #move(from: JsonPointer, to: JsonPointer): void {
    if (from.contains(to)) {
      throw refused(`move operation does not apply: ${quote(from.text)} cannot move into itself`);
    }
    const value = this.#get('move', from);
    if (from.text === to.text) return;
    this.#remove('move', from);
    this.#add('move', to, value);
  }

  #add(op: string, path: JsonPointer, value: unknown): void {
    this.#requireDepth(path, value);
    if (path.isRoot) {
      this.root = value;
      return;
    }
    const parent = this.#parentOf(op, path);
    if (Array.isArray(parent)) {
      const end = parent.length;
      parent.splice(path.last === '-' ? end : this.#indexIn(op, path, end), 0, value);
    } else setMember(parent, path.last, value);
  }

  #replace(path: JsonPointer, value: unknown): void {
    this.#requireDepth(path, value);
    if (path.isRoot) {
      this.root = value;
      return;
    }
    const parent = this.#parentOf('replace', path);
    if (Array.isArray(parent)) parent[this.#indexIn('replace', path, parent.length - 1)] = value;
    else if (Object.hasOwn(parent, path.last)) setMember(parent, path.last, value);
    else throw missing('replace', path);
  }

  #remove(op: string, path: JsonPointer): void {
    if (path.isRoot) {
      throw refused(`${op} operation does not apply: the whole document cannot be removed`);
    }
    const parent = this.#parentOf(op, path);
    if (Array.isArray(parent)) parent.splice(this.#indexIn(op, path, parent.length - 1), 1);
    else if (Object.hasOwn(parent, path.last)) delete parent[path.last];
    else throw missing(op, path);
  }

  #test(path: JsonPointer, expected: unknown): void {
    if (expected === null && !path.isRoot) {
      const parent = this.#parentOf('test', path);
      if (!Array.isArray(parent) && !Object.hasOwn(parent, path.last)) return;
    }
    if (deepEqual(this.#get('test', path), expected)) return;
    throw refused(`testing value ${path.text} failed: test failed`);
  }

  #get(op: string, path: JsonPointer): unknown {
    if (path.isRoot) return this.root;
    const parent = this.#parentOf(op, path);
    if (Array.isArray(parent)) return parent[this.#indexIn(op, path, parent.length - 1)];
    if (Object.hasOwn(parent, path.last)) return parent[path.last];
    throw missing(op, path);
  }

  /** The container of the target. Every step to it must exist. */
  #parentOf(op: string, path: JsonPointer): Container {
    let at: unknown = this.root;
    for (const step of path.parents) {
      if (Array.isArray(at)) {
        const index = JsonPointer.index(step);
        at = index === undefined ? undefined : at[index];
      } else at = isJsonObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
    }
    if (Array.isArray(at)) return at;
    if (isJsonObject(at)) return at;
    throw missing(op, path);
  }

  #indexIn(op: string, path: JsonPointer, last: number): number {
    const index = JsonPointer.index(path.last);
    if (index !== undefined && index <= last) return index;
    const why =
      index === undefined
        ? `${quote(path.last)} is not an array index`
        : `invalid index referenced`;
    throw refused(`error in ${op} for path: '${path.text}': ${why}`);
  }

  #requireDepth(path: JsonPointer, value: unknown): void {
    if (isDeeperThan(value, MAX_JSON_DEPTH - path.depth)) {
      throw refused(`error for path: '${path.text}': deeper than ${MAX_JSON_DEPTH} levels`);
    }
  }
}

function missing(op: string, path: JsonPointer): ApiStatusError {
  return refused(`${op} operation does not apply: doc is missing path: ${quote(path.text)}`);
}

function refused(message: string): ApiStatusError {
  return failure('Invalid', message, {});
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 1;
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + sizeOf(one), 1);
  let size = 1;
  for (const [key, member] of Object.entries(value)) size += key.length + sizeOf(member);
  return size;
}
