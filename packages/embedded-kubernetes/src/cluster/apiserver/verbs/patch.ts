/** Patches other than apply: JSON patch, merge patch and strategic merge patch. */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { applyJsonPatch, parseJsonPatch } from '@lockstep/kube/patch/json-patch.ts';
import { applyMergePatch } from '@lockstep/kube/patch/merge-patch.ts';
import { applyStrategicMergePatch } from '@lockstep/kube/patch/strategic-merge-patch.ts';
import { failure } from '@lockstep/kube/status.ts';
import {
  badRequest,
  unsupportedAnyhow,
  unsupportedMediaType,
} from '@lockstep/kube/status-errors.ts';
import { parseMediaType } from '../http/content-negotiation.ts';
import { JsonSyntaxError, type JsonText } from '../http/json-reader.ts';
import { goTypeOf, readBody } from '../http/request-body.ts';
import type { ServedResource } from '../resources/served-resource.ts';

/** The content type that `apply-patch.ts` reads. */
const APPLY_TYPE = 'application/apply-patch+yaml';

export function isApply(contentType: string | undefined): boolean {
  return parseMediaType(contentType ?? '').type === APPLY_TYPE;
}

/** A parsed patch: turns an object into the wanted one. */
export interface Patch {
  apply(object: JsonObject): JsonObject;
  readonly duplicates: readonly string[];
}

/**
 * Throws 415 for a type of patch that the resource does not take, and 400 for an invalid patch.
 * Does not take apply patches.
 */
export function readPatch(
  of: ServedResource,
  body: Uint8Array | undefined,
  contentType: string | undefined,
): Patch {
  const { type } = parseMediaType(contentType ?? '');
  switch (type) {
    case 'application/json-patch+json': {
      const { value, duplicates } = patchText(body);
      if (!Array.isArray(value)) throw undecodable(value, '[]handlers.jsonPatchOp');
      const operations = parseJsonPatch(value);
      return { duplicates, apply: (object) => asObject(applyJsonPatch(object, operations)) };
    }
    case 'application/merge-patch+json': {
      const { value, duplicates } = patchText(body);
      if (!isJsonObject(value)) throw undecodable(value, 'map[string]interface {}');
      return { duplicates, apply: (object) => asObject(applyMergePatch(object, value)) };
    }
    case 'application/strategic-merge-patch+json': {
      // Schemas of custom resources lack merge keys, so the API refuses strategic merge patches.
      if (of.custom) throw unsupportedMediaType(CUSTOM_PATCH_TYPES);
      const { value, duplicates } = patchText(body);
      if (!isJsonObject(value)) throw undecodable(value, 'map[string]interface {}');
      const apply = (object: JsonObject): JsonObject =>
        applyStrategicMergePatch(object, value, of.schema);
      return { duplicates, apply };
    }
    default:
      throw of.custom ? unsupportedMediaType(CUSTOM_PATCH_TYPES) : unsupportedAnyhow();
  }
}

const CUSTOM_PATCH_TYPES: readonly string[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  APPLY_TYPE,
];

function patchText(body: Uint8Array | undefined): JsonText {
  try {
    return readBody(body ?? new Uint8Array(), 'application/json', undefined);
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      throw badRequest(`error decoding patch: ${error.message}`, error);
    }
    throw error;
  }
}

function undecodable(value: unknown, wanted: string): Error {
  const type = goTypeOf(value);
  return badRequest(
    `error decoding patch: json: cannot unmarshal ${type} into Go value of type ${wanted}`,
  );
}

function asObject(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw failure('Invalid', `the patch makes a ${goTypeOf(value)} of the object`);
}
