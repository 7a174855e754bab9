/**
 * Definitions in the notation that `packages/kube/src/schema/definitions.ts` reads. What a document says in a
 * way that the notation has no words for is an error, so that nothing is lost unnoticed.
 */
import { type GoApi, splitTitle } from './go-api.ts';
import type { GoType } from './go-types.ts';
import { type Published, type PublishedSchema, referenceIn } from './published.ts';

/** Words of the notation for extensions of OpenAPI. */
const ATTRIBUTES = {
  list: 'x-kubernetes-list-type',
  keys: 'x-kubernetes-list-map-keys',
  map: 'x-kubernetes-map-type',
  patch: 'x-kubernetes-patch-strategy',
  patchKey: 'x-kubernetes-patch-merge-key',
} as const;

const EXTENSIONS: readonly string[] = Object.values(ATTRIBUTES);

/** The text of each definition of `titles`, by the prefix that they share. */
export function definitionTexts(
  titles: readonly string[],
  published: Published,
  go: GoApi,
): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const title of titles) {
    const [prefix] = splitTitle(title);
    texts[prefix] = (texts[prefix] ?? '') + definitionText(title, published, go);
  }
  return texts;
}

function definitionText(title: string, published: Published, go: GoApi): string {
  const [prefix, name] = splitTitle(title);
  const { properties = {}, required = [], ...own } = published.get(title) ?? {};
  const members = go.members(title);
  const unlike = difference(
    members.map((member) => member.name),
    Object.keys(properties),
  );
  if (unlike.length > 0) throw new Error(`${title}: only one source has ${unlike.join(', ')}`);
  const lines = members.map((member) => {
    const schema = properties[member.name] ?? {};
    try {
      const mark = required.includes(member.name) ? '!' : '';
      const type = typeText(schema, { prefix, published, go, type: member.type });
      const words = [...attributes(schema), ...defaultOf(schema, go.resolve(member.type))];
      return ['', `${member.name}${mark}`, type, ...words].join(' ');
    } catch (cause) {
      throw new Error(`${title}.${member.name} cannot be written`, { cause });
    }
  });
  refuseUnknown(own, DEFINITION_KEYWORDS);
  return `${[[name, ...attributes(own)].join(' '), ...lines].join('\n')}\n`;
}

const DEFINITION_KEYWORDS = [
  'type',
  'description',
  'x-kubernetes-group-version-kind',
  'x-kubernetes-unions',
  ...EXTENSIONS,
] as const;

interface TypeContext {
  readonly prefix: string;
  readonly published: Published;
  readonly go: GoApi;
  /** The type of the field, which knows enumerations. */
  readonly type: GoType;
}

function typeText(schema: PublishedSchema, context: TypeContext): string {
  const { published, prefix, go, type } = context;
  const { items, additionalProperties } = schema;
  refuseUnknown(schema, TYPE_KEYWORDS);
  const reference = referenceIn(schema);
  if (reference !== undefined) {
    const target = published.get(reference) ?? {};
    if (target.properties !== undefined || isOpaque(target)) return nameText(reference, prefix);
    return target.oneOf === undefined ? scalarText(target) : choiceText(reference, target);
  }
  if (items !== undefined) return `[${typeText(items, context)}]`;
  if (additionalProperties !== undefined) return `{${typeText(additionalProperties, context)}}`;
  const values = go.enumeration(type.name) ?? [];
  return values.length === 0 ? scalarText(schema) : values.map((value) => `'${value}'`).join('|');
}

const TYPE_KEYWORDS = [
  'type',
  'format',
  'description',
  'default',
  'items',
  'additionalProperties',
  '$ref',
  'allOf',
  ...EXTENSIONS,
] as const;

/** Documents say nothing of what it is: its own encoders and decoders do. */
function isOpaque({ type, oneOf }: PublishedSchema): boolean {
  return type === undefined && oneOf === undefined;
}

function nameText(title: string, from: string): string {
  const [prefix, name] = splitTitle(title);
  return prefix === from ? name : title;
}

function choiceText(title: string, { format, oneOf = [] }: PublishedSchema): string {
  const types = oneOf.map(({ type }) => type).join('|');
  if (format === 'int-or-string' && types === 'integer|string') return format;
  if (title.endsWith('.Quantity') && types === 'string|number') return 'quantity';
  throw new Error(`${title}: a choice of ${types} has no name`);
}

function scalarText({ type = '', format }: PublishedSchema): string {
  const text = format === undefined ? type : `${type} ${format}`;
  const word = SCALARS.get(text);
  if (word === undefined) throw new Error(`the type ${text} has no name`);
  return word;
}

const SCALARS: ReadonlyMap<string, string> = new Map([
  ['boolean', 'boolean'],
  ['integer int32', 'int32'],
  ['integer int64', 'int64'],
  ['number double', 'double'],
  ['object', 'object'],
  ['string', 'string'],
  ['string byte', 'byte'],
  ['string date-time', 'date-time'],
]);

function attributes(schema: PublishedSchema): readonly string[] {
  return Object.entries(ATTRIBUTES).flatMap(([word, keyword]) => {
    const value = schema[keyword];
    return value === undefined ? [] : `${word}=${String(value)}`;
  });
}

/**
 * A chosen default. Documents also give the zero value of each field that Go always has, which is
 * a fact of the language.
 */
function defaultOf({ default: value }: PublishedSchema, type: GoType): readonly string[] {
  const isZero = ['""', '0', 'false', '{}'].includes(JSON.stringify(value));
  if (value === undefined || (isZero && !type.wrapping.startsWith('*'))) return [];
  const text = JSON.stringify(value);
  if (text.includes(' ')) throw new Error(`the default ${text} has a space`);
  return [`default=${text}`];
}

function refuseUnknown(schema: object, known: readonly string[]): void {
  const strange = Object.keys(schema).filter((keyword) => !known.includes(keyword));
  if (strange.length > 0) throw new Error(`unknown keywords ${strange.join(', ')}`);
}

function difference(left: readonly string[], right: readonly string[]): readonly string[] {
  return [
    ...left.filter((one) => !right.includes(one)),
    ...right.filter((one) => !left.includes(one)),
  ];
}
