import { expect, test } from 'vitest';
import { POD_DEFINITIONS } from '../pod-schema/pod-definitions.ts';
import { customResourceSchema } from './custom-resource-schema.ts';
import { withQuantityTexts } from './quantity-texts.ts';
import { validate } from './validate.ts';

const SCHEMA = customResourceSchema(POD_DEFINITIONS.get('io.k8s.api.core.v1.PodSpec'));

function asking(cpu: unknown): object {
  return { containers: [{ name: 'w', resources: { requests: { cpu } } }] };
}

test.each([
  [0.5, '500m'],
  [1.25, '1250m'],
  [2.5e-7, '250e-9'],
  [1e-12, '1e-9'],
  [1e20, '9223372036854775807'],
])('the quantity %s becomes %s, which the schema takes', (given, text) => {
  expect(validate(SCHEMA, asking(given))).not.toEqual([]);
  const rewritten = withQuantityTexts(SCHEMA, asking(given));
  expect(rewritten).toEqual(asking(text));
  expect(validate(SCHEMA, rewritten)).toEqual([]);
});

test.each([[2], ['0.5'], ['500m'], [null], [true], [{ a: 0.5 }]])(
  '%j stays what it is, and so does the object',
  (given) => {
    const pod = asking(given);
    expect(withQuantityTexts(SCHEMA, pod)).toBe(pod);
  },
);

test('only quantities are rewritten, whatever the shape', () => {
  for (const other of [
    { containers: [{ name: 'w', ports: [{ containerPort: 0.5 }] }] },
    { containers: 0.5, volumes: [0.5, { emptyDir: 0.5 }] },
    { unknown: { resources: { requests: { cpu: 0.5 } } } },
    0.5,
  ]) {
    expect(withQuantityTexts(SCHEMA, other)).toBe(other);
  }
});
