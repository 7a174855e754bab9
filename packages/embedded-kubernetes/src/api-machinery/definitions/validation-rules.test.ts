/**
 * Compares the errors for schemas with rules, and for objects under rules, with the errors of
 * Kubernetes' own library (`testdata/validation-rules.json`, recorded from the version that it
 * names). The order of errors is ignored, because there it depends on Go's maps.
 */
import { readFileSync } from 'node:fs';
import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { describe, expect, it } from 'vitest';
import { ruleTree, violations } from './rule-evaluation.ts';
import { ruleErrors, ruleFormErrors } from './rule-structure.ts';
import { structuralErrors } from './structural.ts';

interface RecordedDefinition {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly errors: readonly string[];
}

interface RecordedObject extends RecordedDefinition {
  readonly object: JsonObject;
  readonly old?: JsonObject;
}

const RECORDED: {
  readonly definitions: readonly RecordedDefinition[];
  readonly objects: readonly RecordedObject[];
} = JSON.parse(readFileSync(new URL('testdata/validation-rules.json', import.meta.url), 'utf8'));

const PATH = 'spec.validation.openAPIV3Schema';

describe('rules of a definition are refused as Kubernetes refuses them', () => {
  it.each(RECORDED.definitions)('$name', ({ schema, errors }) => {
    const form = [...structuralErrors(schema, PATH), ...ruleFormErrors(schema, PATH)];
    const found = form.length > 0 ? form : ruleErrors(schema, PATH);
    expect(found.map(formatFieldError).sort()).toEqual([...errors].sort());
  });
});

describe('objects violate rules as Kubernetes says', () => {
  it.each(RECORDED.objects)('$name', ({ schema, object, old, errors }) => {
    const tree = ruleTree(schema);
    if (tree === undefined) throw new Error('there are no rules');
    expect(violations(tree, object, old).map(formatFieldError).sort()).toEqual([...errors].sort());
  });
});
