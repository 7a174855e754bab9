/**
 * Fractions as quantities of custom resources. A server takes `cpu: 0.5` in the object of a built-in
 * kind, and no schema of a custom resource can allow it: there a quantity is a whole number or a text.
 */
import { isJsonObject } from '../json/json-value.ts';
import { formatQuantity, parseQuantity } from '../quantity.ts';
import { isQuantity } from './custom-resource-schema.ts';
import type { JsonSchema } from './json-schema.ts';

/** `value` with canonical texts for quantities that are no whole numbers: `500m` for 0.5. */
export function withQuantityTexts(schema: JsonSchema, value: unknown): unknown {
  if (typeof value === 'number') return isQuantity(schema) ? quantityText(value) : value;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    const texts = value.map((item: unknown) => withQuantityTexts(items, item));
    return texts.every((text, index) => text === value[index]) ? value : texts;
  }
  if (!isJsonObject(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const changed = Object.entries(value).flatMap(([name, member]) => {
    const below = Object.hasOwn(properties, name) ? properties[name] : others;
    if (below === undefined) return [];
    const text = withQuantityTexts(below, member);
    return text === member ? [] : [[name, text] as const];
  });
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

function quantityText(value: number): unknown {
  if (Number.isSafeInteger(value)) return value;
  const quantity = parseQuantity(String(value));
  return quantity === undefined ? value : formatQuantity(quantity);
}
