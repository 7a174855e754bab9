import { describe, expect, test } from 'vitest';
import { Definitions } from './definitions.ts';

const OF = 'io.k8s.api.bakery.v1';

const TEXTS = {
  [OF]: `
Cake
 kind string
 apiVersion string
 metadata Meta
 name! string
 flavor 'Bitter'|'Sweet' default="Sweet"
 slices [Slice] list=map keys=name,size patch=merge patchKey=name
 amounts {quantity}
 oven io.k8s.api.kitchen.v1.Oven
 inner Cake
Meta map=atomic
 name string
Slice
 name! string
 size! int32
`,
};

const BASE = new Definitions({
  texts: { 'io.k8s.api.kitchen.v1': '\nOven\n degrees int64\n' },
  amendments: {},
});

const DEFINITIONS = new Definitions({
  texts: TEXTS,
  base: BASE,
  amendments: {
    [OF]: {
      Cake: { '': 'Sweet or bitter.', name: 'What it is called.', flavor: { enum: undefined } },
      Slice: { size: { default: 0, description: 'In grams.' } },
    },
  },
});

const { properties = {}, ...cake } = DEFINITIONS.get(`${OF}.Cake`);

describe('a definition', () => {
  test('is an object with a title and what is required', () => {
    expect(cake).toEqual({
      title: `${OF}.Cake`,
      type: 'object',
      description: 'Sweet or bitter.',
      required: ['name'],
    });
    expect(DEFINITIONS.get(`${OF}.Meta`)['x-kubernetes-map-type']).toBe('atomic');
  });

  test('has lists and maps with what is known of them', () => {
    expect(properties['slices']).toMatchObject({
      type: 'array',
      items: { title: `${OF}.Slice` },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'size'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
    });
    expect(properties['amounts']).toEqual({
      type: 'object',
      additionalProperties: {
        title: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
        oneOf: [{ type: 'string' }, { type: 'number' }],
      },
    });
  });

  test('describes what all objects with a kind have', () => {
    expect(properties['kind']).toEqual({ type: 'string', description: 'What the object is.' });
    expect(properties['metadata']).toMatchObject({ title: `${OF}.Meta` });
  });

  test('is amended, also by taking away', () => {
    expect(properties['name']).toEqual({ type: 'string', description: 'What it is called.' });
    expect(properties['flavor']).toEqual({ type: 'string', default: 'Sweet' });
    const { size } = DEFINITIONS.get(`${OF}.Slice`).properties ?? {};
    expect(size).toEqual({
      type: 'integer',
      format: 'int32',
      default: 0,
      description: 'In grams.',
    });
  });

  test('may contain itself, and others from elsewhere', () => {
    expect(properties['inner']).toBe(DEFINITIONS.get(`${OF}.Cake`));
    expect(properties['oven']).toBe(BASE.get('io.k8s.api.kitchen.v1.Oven'));
  });
});

test.each([
  ['a name that nothing has', `${OF}.Pie`, 'there is no definition'],
  ['a keyword that there is not', 'io.k8s.api.odd.v1.Odd', 'sort=up is no keyword'],
])('%s is refused', (_name, title, message) => {
  const odd = new Definitions({
    texts: { ...TEXTS, 'io.k8s.api.odd.v1': '\nOdd\n name string sort=up\n' },
    amendments: {},
    base: BASE,
  });
  expect(() => odd.get(title)).toThrow(message);
});
