/**
 * Compares our cost estimates with the estimates of Kubernetes (`testdata/costs.json`, recorded from
 * the version that it names). The approximation is off by a factor, but never by enough that a limit
 * would matter.
 */
import { readFileSync } from 'node:fs';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { describe, expect, it } from 'vitest';
import { compileExpression } from './expression.ts';

const RECORDED: {
  readonly schema: JsonSchema;
  readonly costs: Readonly<Record<string, number>>;
} = JSON.parse(readFileSync(new URL('testdata/costs.json', import.meta.url), 'utf8'));

/** How far an estimate may be off; in the cheapest ones, a unit or two matter. */
const FACTOR = 2.5;
const SLACK = 10;

describe('the estimated cost of a rule is about the same as in Kubernetes', () => {
  it.each(Object.entries(RECORDED.costs))('%s: %d', (source, theirs) => {
    const variables = { self: RECORDED.schema, oldSelf: RECORDED.schema };
    const compiled = compileExpression(source, variables);
    if (compiled.kind === 'Invalid') throw new Error(compiled.message);
    const ours = compiled.expression.estimatedCost;
    expect(ours).toBeLessThanOrEqual(theirs * FACTOR + SLACK);
    expect(ours).toBeGreaterThanOrEqual(theirs / FACTOR - SLACK);
  });
});
