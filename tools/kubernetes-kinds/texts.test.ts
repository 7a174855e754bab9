import { describe, expect, it } from 'vitest';
import { definitionTexts } from './definition-text.ts';
import { GoApi } from './go-api.ts';
import { parseGoPackage } from './go-types.ts';
import { messageTexts } from './message-text.ts';
import { closureOf, type PublishedSchema } from './published.ts';

const SOURCE = `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Flavor is how something tastes.
// +enum
type Flavor string

const (
	FlavorSweet Flavor = "Sweet"
	FlavorBitter Flavor = "Bitter"
)

type Amounts map[string]string

// Common is in all of them.
type Common struct {
	// Name is its name.
	Name string \`json:"name" protobuf:"bytes,1,opt,name=name"\`
}

type Cake struct {
	metav1.TypeMeta \`json:",inline"\`
	metav1.ObjectMeta \`json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"\`
	Common \`json:",inline" protobuf:"bytes,2,opt,name=common"\`
	Flavor Flavor \`json:"flavor,omitempty" protobuf:"bytes,5,opt,name=flavor,casttype=Flavor"\`
	Layers *int32 \`json:"layers,omitempty" protobuf:"varint,4,opt,name=layers"\`
	Size intstr.IntOrString \`json:"size" protobuf:"bytes,3,opt,name=size"\`
	Baked metav1.Time \`json:"baked,omitempty" protobuf:"bytes,6,opt,name=baked"\`
	Slices []Slice \`json:"slices,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,7,rep,name=slices"\`
	Amounts Amounts \`json:"amounts,omitempty" protobuf:"bytes,8,rep,name=amounts"\`
	Picture []byte \`json:"picture,omitempty" protobuf:"bytes,9,opt,name=picture"\`
}

type Slice struct {
	Common \`json:",inline" protobuf:"bytes,1,opt,name=common"\`
}
`;

const META = `package v1

type TypeMeta struct {
	Kind string \`json:"kind,omitempty" protobuf:"bytes,1,opt,name=kind"\`
	APIVersion string \`json:"apiVersion,omitempty" protobuf:"bytes,2,opt,name=apiVersion"\`
}

type ObjectMeta struct {
	Name string \`json:"name,omitempty" protobuf:"bytes,1,opt,name=name"\`
}
`;

const OF = 'io.k8s.api.bakery.v1';
const META_OF = 'io.k8s.apimachinery.pkg.apis.meta.v1';

function refer(name: string): PublishedSchema {
  return { $ref: `#/components/schemas/${name}` };
}

const CAKE: PublishedSchema = {
  type: 'object',
  description: 'A cake.',
  required: ['name', 'size'],
  properties: {
    amounts: { type: 'object', additionalProperties: { type: 'string', default: '' } },
    apiVersion: { type: 'string' },
    baked: { allOf: [refer(`${META_OF}.Time`)], description: 'When.' },
    flavor: { type: 'string' },
    kind: { type: 'string' },
    layers: { type: 'integer', format: 'int32', default: 3 },
    metadata: { allOf: [refer(`${META_OF}.ObjectMeta`)], default: {} },
    name: { type: 'string', default: '' },
    picture: { type: 'string', format: 'byte' },
    size: { allOf: [refer('io.k8s.apimachinery.pkg.util.intstr.IntOrString')] },
    slices: {
      type: 'array',
      items: { allOf: [refer(`${OF}.Slice`)], default: {} },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
    },
  },
};

const PUBLISHED = new Map<string, PublishedSchema>([
  [`${OF}.Cake`, CAKE],
  [`${OF}.Slice`, { type: 'object', properties: { name: { type: 'string', default: '' } } }],
  [`${META_OF}.ObjectMeta`, { type: 'object', properties: { name: { type: 'string' } } }],
  [`${META_OF}.Time`, { type: 'string', format: 'date-time' }],
  [
    'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  ],
]);

const GO = new GoApi(
  new Map([
    [OF, parseGoPackage([SOURCE], OF)],
    [META_OF, parseGoPackage([META], META_OF)],
  ]),
);

describe('a definition', () => {
  it('has its fields in the order of the Go type, with what the document says of them', () => {
    expect(definitionTexts([`${OF}.Cake`], PUBLISHED, GO)).toEqual({
      [OF]: [
        'Cake',
        ' kind string',
        ' apiVersion string',
        ` metadata ${META_OF}.ObjectMeta`,
        ' name! string',
        " flavor 'Bitter'|'Sweet'",
        ' layers int32 default=3',
        ' size! int-or-string',
        ' baked date-time',
        ' slices [Slice] list=map keys=name patch=merge patchKey=name',
        ' amounts {string}',
        ' picture byte',
        '',
      ].join('\n'),
    });
  });

  it('brings along those that it refers to', () => {
    expect(closureOf(PUBLISHED, [`${OF}.Cake`])).toEqual([
      `${OF}.Cake`,
      `${OF}.Slice`,
      `${META_OF}.ObjectMeta`,
    ]);
    expect(() => closureOf(PUBLISHED, [`${OF}.Pie`])).toThrow(`no document tells of ${OF}.Pie`);
  });

  it.each([
    ['a field that the Go type does not have', { frosting: { type: 'string' } }, 'only one source'],
    [
      'a keyword that the notation has not',
      { name: { type: 'string', maxLength: 3 } },
      'Cake.name',
    ],
    ['a type that the notation has not', { name: { type: 'integer' } }, 'Cake.name'],
  ])('is refused with %s', (_name, properties, message) => {
    const changed = { ...CAKE, properties: { ...CAKE.properties, ...properties } };
    const published = new Map([...PUBLISHED, [`${OF}.Cake`, changed]]);
    expect(() => definitionTexts([`${OF}.Cake`], published, GO)).toThrow(message);
  });
});

it('a message has its fields by number, and those that are inlined in a message of their own', () => {
  expect(messageTexts([`${OF}.Cake`], GO)).toEqual({
    [OF]: [
      'Cake metadata =Common size:I layers flavor? baked?:T slices amounts picture:B',
      'Common name',
      '',
    ].join('\n'),
  });
});
