/**
 * Match conditions of webhooks: CEL expressions over the request, its object and its old object,
 * which narrow further what a webhook is asked. Used where configurations are validated and where
 * requests are matched, so that both mean the same.
 */
import { type CelVariables, type Compilation, compileExpression } from './cel/expression.ts';
import { boolean, int64, list, map, object, string } from './schema/builders.ts';

export type CompiledMatchCondition = Compilation;

/** `Invalid` carries the text for the user. What only running shows to be no boolean is let through. */
export function compileMatchCondition(source: string): CompiledMatchCondition {
  const compiled = compileExpression(source, VARIABLES);
  if (compiled.kind === 'Invalid') {
    return { kind: 'Invalid', message: `compilation failed: ${compiled.message}` };
  }
  const { resultType } = compiled.expression;
  return resultType === 'bool' || resultType === 'dyn'
    ? compiled
    : { kind: 'Invalid', message: 'must evaluate to bool' };
}

const GROUP_VERSION_KIND = object({ group: string(), version: string(), kind: string() });
const GROUP_VERSION_RESOURCE = object({ group: string(), version: string(), resource: string() });

/** Every member that the options of a creation, an update or a deletion can have. */
const OPTIONS = object({
  kind: string(),
  apiVersion: string(),
  dryRun: list(string()),
  fieldManager: string(),
  fieldValidation: string(),
  gracePeriodSeconds: int64(),
  orphanDependents: boolean(),
  propagationPolicy: string(),
  preconditions: object({ uid: string(), resourceVersion: string() }),
});

/** `AdmissionRequest` without the objects, which are variables of their own. */
const REQUEST = object({
  kind: GROUP_VERSION_KIND,
  resource: GROUP_VERSION_RESOURCE,
  subResource: string(),
  requestKind: GROUP_VERSION_KIND,
  requestResource: GROUP_VERSION_RESOURCE,
  requestSubResource: string(),
  name: string(),
  namespace: string(),
  operation: string(),
  userInfo: object({
    username: string(),
    uid: string(),
    groups: list(string()),
    extra: map(list(string())),
  }),
  dryRun: boolean(),
  options: OPTIONS,
});

const VARIABLES: CelVariables = { object: 'dyn', oldObject: 'dyn', request: REQUEST };
