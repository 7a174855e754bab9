/**
 * Match conditions of webhooks: CEL expressions over the request, its object and its old object,
 * which narrow the requests that a webhook receives. Validation of configurations and matching of
 * requests share this file, so that both agree.
 */

import { boolean, list, map, object, string } from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { type CelVariables, type Compilation, compileExpression } from '../cel/expression.ts';

export type CompiledMatchCondition = Compilation;

/** `Invalid` carries the text for the user. */
export function compileMatchCondition(source: string): CompiledMatchCondition {
  const compiled = compileExpression(source, VARIABLES);
  if (compiled.kind === 'Invalid') {
    return { kind: 'Invalid', message: `compilation failed: ${compiled.message}` };
  }
  const { resultType } = compiled.expression;
  if (resultType === 'bool') return compiled;
  return { kind: 'Invalid', message: `must evaluate to bool but got ${resultType}` };
}

const GROUP_VERSION_KIND = object({ group: string(), version: string(), kind: string() });
const GROUP_VERSION_RESOURCE = object({ group: string(), version: string(), resource: string() });

/** Options differ by operation, so expressions see a value of any type. */
const OPTIONS: JsonSchema = { 'x-kubernetes-int-or-string': true };

/** `AdmissionRequest` without the objects, which are separate variables. */
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
