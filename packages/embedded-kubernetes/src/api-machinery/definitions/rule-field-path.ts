/**
 * The `fieldPath` of a rule, such as `.spec.name` or `.labels['a/b']`: where a violation is shown,
 * relative to the value of the rule.
 */

import { ownMember } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { SHORT_ESCAPES } from '../cel/lexer.ts';

/**
 * The path as errors show it, `spec.name` or `labels[a/b]`; undefined if `schema` has no such
 * field. List items cannot be named.
 */
export function ruleFieldPath(schema: JsonSchema, fieldPath: string): string | undefined {
  let shown = '';
  let below: JsonSchema = schema;
  let rest = fieldPath;
  while (rest !== '') {
    const step = STEP.exec(rest);
    if (step === null) return undefined;
    const [text, plain, quoted = ''] = step;
    const name = plain ?? unquoted(quoted);
    if (name === undefined) return undefined;
    const { properties, additionalProperties } = below;
    const isField = properties !== undefined;
    const next = isField ? ownMember(properties, name) : additionalProperties;
    if (typeof next !== 'object') return undefined;
    if (!isField) shown += `[${name}]`;
    else shown += shown === '' ? name : `.${name}`;
    below = next;
    rest = rest.slice(text.length);
  }
  return shown;
}

const STEP = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\])/;

/** A field path takes fewer escapes than the language does. */
const ESCAPES: Readonly<Record<string, string>> = {
  ...SHORT_ESCAPES,
  "'": "'",
  '\\': '\\',
};

function unquoted(text: string): string | undefined {
  let isKnown = true;
  const name = text.replace(/\\(.)/g, (_whole, letter: string) => {
    const character = ESCAPES[letter];
    if (character === undefined) isKnown = false;
    return character ?? '';
  });
  return isKnown ? name : undefined;
}
