/**
 * Schemas of built-in types, from a notation of one line for each field. `tools/kubernetes-kinds`
 * writes it from what Kubernetes publishes:
 *
 *     Container
 *      name! string
 *      ports [ContainerPort] list=map keys=containerPort,protocol patch=merge patchKey=containerPort
 *      imagePullPolicy 'Always'|'IfNotPresent'|'Never'
 *
 * A definition begins its line; its fields follow, `!` after those that are required. A type is a word
 * of `SCALARS`, quoted values of which it has one, a list `[TYPE]`, a map `{TYPE}`, or the name of
 * another definition, which is whole where that is in another group. `KEYWORD=VALUE` follows a type or
 * the name of a definition. A definition is read when it is first asked for.
 */
import { intOrString } from './builders.ts';
import type { JsonSchema } from './json-schema.ts';

/** Definitions by the beginning that their names share, such as `io.k8s.api.core.v1`. */
export type DefinitionTexts = Readonly<Record<string, string>>;

/**
 * What else holds of fields, by the name of their definition and their own; the name of the
 * definition itself is empty. A text is a description; a keyword that is undefined is taken away.
 */
export type Amendments = Readonly<Record<string, Readonly<Record<string, DefinitionAmendments>>>>;

export type DefinitionAmendments = Readonly<Record<string, Amendment>>;

export type Amendment = string | { readonly [K in keyof JsonSchema]: JsonSchema[K] | undefined };

/** Definitions that have no fields of their own: what they are is said in code. */
export type OpaqueTypes = Readonly<Record<string, (definitions: Definitions) => JsonSchema>>;

export interface DefinitionSources {
  readonly texts: DefinitionTexts;
  /** By the beginning of names, as the texts are. */
  readonly amendments: Amendments;
  /** By whole names. */
  readonly opaque?: OpaqueTypes;
  /** Where definitions are looked up that are not among these. */
  readonly base?: Definitions;
}

export class Definitions {
  readonly #sources: DefinitionSources;
  readonly #blocks = new Map<string, ReadonlyMap<string, readonly string[]>>();
  readonly #known = new Map<string, JsonSchema>();

  constructor(sources: DefinitionSources) {
    this.#sources = sources;
  }

  /** The schema of that name, such as `io.k8s.api.core.v1.Pod`; throws where there is none. */
  get(title: string): JsonSchema {
    const schema = this.#find(title);
    if (schema === undefined) throw new Error(`there is no definition ${title}`);
    return schema;
  }

  #find(title: string): JsonSchema | undefined {
    const known = this.#known.get(title);
    if (known !== undefined) return known;
    const { opaque = {}, base } = this.#sources;
    const dot = title.lastIndexOf('.');
    const [prefix, name] = [title.slice(0, dot), title.slice(dot + 1)];
    const block = this.#blocksOf(prefix).get(name);
    if (block === undefined) {
      return opaque[title]?.(this) ?? (base === undefined ? undefined : base.#find(title));
    }
    const schema: Mutable<JsonSchema> = { title, type: 'object' };
    // Known before its fields are read, which may be of this type again.
    this.#known.set(title, schema);
    Object.assign(schema, this.#read(prefix, name, block));
    return schema;
  }

  #read(prefix: string, name: string, [header = '', ...lines]: readonly string[]): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const line of lines) {
      const [marked = '', type = '', ...words] = line.split(' ');
      const field = marked.replace(/!$/, '');
      if (field !== marked) required.push(field);
      const typed = this.#typed(prefix, type);
      // A type that refers to itself is not whole yet, so there must be no copy of it.
      const schema = words.length === 0 ? typed : { ...typed, ...keywords(words) };
      properties[field] = this.#amended(schema, prefix, name, field);
    }
    const isObject = Object.keys(OBJECT_MEMBERS).every((member) =>
      Object.hasOwn(properties, member),
    );
    const schema = {
      ...keywords(header.split(' ').slice(1)),
      properties: isObject ? withObjectMembers(properties) : properties,
      ...(required.length === 0 ? {} : { required }),
    };
    return this.#amended(schema, prefix, name, '');
  }

  #amended(schema: JsonSchema, prefix: string, name: string, field: string): JsonSchema {
    const amendment = this.#sources.amendments[prefix]?.[name]?.[field];
    if (amendment === undefined) return schema;
    if (typeof amendment === 'string') return { ...schema, description: amendment };
    const members = Object.entries({ ...schema, ...amendment });
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }

  #typed(prefix: string, type: string): JsonSchema {
    const inner = type.slice(1, -1);
    if (type.startsWith('[')) return { type: 'array', items: this.#typed(prefix, inner) };
    if (type.startsWith('{')) {
      return { type: 'object', additionalProperties: this.#typed(prefix, inner) };
    }
    if (type.startsWith("'")) return { type: 'string', enum: inner.split("'|'") };
    return SCALARS[type] ?? this.get(type.includes('.') ? type : `${prefix}.${type}`);
  }

  #blocksOf(prefix: string): ReadonlyMap<string, readonly string[]> {
    const known = this.#blocks.get(prefix);
    if (known !== undefined) return known;
    const text = this.#sources.texts[prefix] ?? '';
    const blocks = text.split(/\n(?! )/).map((block) => block.split('\n '));
    const byName = new Map(blocks.map((block) => [block[0]?.split(' ')[0] ?? '', block]));
    this.#blocks.set(prefix, byName);
    return byName;
  }
}

export const OBJECT_META_TITLE = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** An amount such as `500m` or `1Gi`. Numbers are accepted; the server stores the text. */
export const QUANTITY: JsonSchema = {
  title: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  oneOf: [{ type: 'string' }, { type: 'number' }],
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  boolean: { type: 'boolean' },
  byte: { type: 'string', format: 'byte' },
  'date-time': { type: 'string', format: 'date-time' },
  double: { type: 'number', format: 'double' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  'int-or-string': intOrString(),
  object: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  quantity: QUANTITY,
  string: { type: 'string' },
};

/** The fields that all objects with a kind have, described. */
function withObjectMembers(
  properties: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, JsonSchema>> {
  const described = Object.entries(OBJECT_MEMBERS).map(([name, description]) => {
    return [name, { ...properties[name], description }] as const;
  });
  return { ...properties, ...Object.fromEntries(described) };
}

const OBJECT_MEMBERS: Readonly<Record<string, string>> = {
  apiVersion: 'The group and version of the API, such as batch/v1.',
  kind: 'What the object is.',
  metadata: 'Name, labels and what else every object has.',
};

function keywords(words: readonly string[]): JsonSchema {
  const schema: Record<string, unknown> = {};
  for (const word of words) {
    const [keyword = '', ...rest] = word.split('=');
    const read = KEYWORDS[keyword];
    if (read === undefined) throw new Error(`${word} is no keyword of the notation`);
    Object.assign(schema, read(rest.join('=')));
  }
  return schema;
}

const KEYWORDS: Readonly<Record<string, (value: string) => object>> = {
  default: (value) => ({ default: JSON.parse(value) }),
  list: (value) => ({ 'x-kubernetes-list-type': value }),
  keys: (value) => ({ 'x-kubernetes-list-map-keys': value.split(',') }),
  map: (value) => ({ 'x-kubernetes-map-type': value }),
  patch: (value) => ({ 'x-kubernetes-patch-strategy': value }),
  patchKey: (value) => ({ 'x-kubernetes-patch-merge-key': value }),
};
