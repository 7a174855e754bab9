import { isDeeperThan, MAX_JSON_DEPTH } from '../json/json-depth.ts';
import { isJsonObject, ownMember, setMember } from '../json/json-value.ts';
import { badRequest } from '../status-errors.ts';

/**
 * JSON Merge Patch (RFC 7396). Members of the patch replace members of the target, `null` removes
 * one, objects are merged, and everything else is replaced as a whole. The target stays as it is; the
 * result may share parts with both. Throws 400 `BadRequest` for a patch that is too deep.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (isDeeperThan(patch, MAX_JSON_DEPTH)) {
    throw badRequest(`the patch is deeper than ${MAX_JSON_DEPTH} levels`);
  }
  return merged(target, patch);
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, unknown> = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else setMember(result, key, merged(ownMember(result, key), value));
  }
  return result;
}
