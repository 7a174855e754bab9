/**
 * The Go types of the API, as far as their struct tags and markers say what no published document
 * does: the order of fields, their numbers in protocol buffers, which of them Go leaves out when they
 * are zero, and the values of enumerations. Go formats its source, so lines can be read one by one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A field of a struct. */
export interface GoField {
  /** In JSON; empty for a struct whose fields are members of the outer object. */
  readonly name: string;
  readonly type: GoType;
  /** In protocol buffers; undefined for what is not in the message. */
  readonly number: number | undefined;
  readonly omitsEmpty: boolean;
}

/** A type as a field names it, with what is around its name: `*`, `[]` or `map[string]`. */
export interface GoType {
  readonly wrapping: string;
  /** `io.k8s.api.core.v1.Container` as in OpenAPI documents; a basic type without dots. */
  readonly name: string;
}

/** What is declared in one package, by names without it. */
export interface GoPackage {
  readonly structs: ReadonlyMap<string, readonly GoField[]>;
  /** Types that are another type by a new name. */
  readonly aliases: ReadonlyMap<string, GoType>;
  /** The sorted values of types that are marked as enumerations. */
  readonly enums: ReadonlyMap<string, readonly string[]>;
}

/** Reads the `types*.go` files of a package; `prefix` is its name in OpenAPI documents. */
export function readGoPackage(directory: string, prefix: string): GoPackage {
  const files = readdirSync(directory).filter((file) => /^types(_[a-z]+)?\.go$/.test(file));
  const texts = files.sort().map((file) => readFileSync(join(directory, file), 'utf8'));
  return parseGoPackage(texts, prefix);
}

export function parseGoPackage(files: readonly string[], prefix: string): GoPackage {
  const structs = new Map<string, readonly GoField[]>();
  const aliases = new Map<string, GoType>();
  const enums = new Map<string, string[]>();
  for (const text of files) {
    const typeOf = typeReader(importsOf(text), prefix);
    for (const [, comment = '', name = '', type = ''] of text.matchAll(DECLARATION)) {
      if (comment.includes('+enum')) enums.set(name, []);
      if (type === 'struct {') structs.set(name, fieldsOf(bodyAfter(text, name), typeOf));
      else aliases.set(name, typeOf(type));
    }
  }
  for (const text of files) {
    for (const [, type = '', value = ''] of text.matchAll(CONSTANT)) enums.get(type)?.push(value);
  }
  for (const values of enums.values()) values.sort();
  return { structs, aliases, enums };
}

/** `type NAME TYPE` with the comment above it. */
const DECLARATION = /((?:^\/\/.*\n)*)^type (\w+) (struct \{|[^\s{]+)/gm;
/** `NAME TYPE = "VALUE"`, alone or in a block. */
const CONSTANT = /^(?:const |\t)\w+ +(\w+) += +"([^"]*)"/gm;
const FIELD = /^\t(?:\w+ +)?(\S+) +`(.*)`/;
const IMPORT = /^(?:import |\t)(?:(\w+) )?"([\w./-]+)"$/gm;

function importsOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(IMPORT)].map(([, alias, path = '']) => [
      alias ?? path.slice(path.lastIndexOf('/') + 1),
      documentName(path),
    ]),
  );
}

/** `k8s.io/api/core/v1` is `io.k8s.api.core.v1` in OpenAPI documents. */
function documentName(path: string): string {
  const [host = '', ...rest] = path.split('/');
  return [...host.split('.').reverse(), ...rest].join('.');
}

function typeReader(imports: ReadonlyMap<string, string>, prefix: string) {
  return (text: string): GoType => {
    const [, wrapping = '', qualifier, name = ''] =
      /^((?:\*|\[\]|map\[[^\]]+\])*)(?:(\w+)\.)?(\w+)$/.exec(text) ?? [];
    if (qualifier !== undefined) return { wrapping, name: `${imports.get(qualifier)}.${name}` };
    const isBasic = /^[a-z]/.test(name);
    return { wrapping, name: isBasic ? name : `${prefix}.${name}` };
  };
}

function bodyAfter(text: string, name: string): readonly string[] {
  const start = text.indexOf(`\ntype ${name} struct {\n`);
  return text.slice(start + 1, text.indexOf('\n}', start)).split('\n');
}

function fieldsOf(lines: readonly string[], typeOf: (text: string) => GoType): readonly GoField[] {
  return lines.flatMap((line) => {
    const [, type = '', tags] = FIELD.exec(line) ?? [];
    if (tags === undefined) return [];
    const [name = '', ...options] = (tagIn(tags, 'json') ?? '').split(',');
    const number = tagIn(tags, 'protobuf')?.split(',')[1];
    return {
      name: options.includes('inline') ? '' : name,
      type: typeOf(type),
      number: number === undefined ? undefined : Number(number),
      omitsEmpty: options.includes('omitempty'),
    };
  });
}

function tagIn(tags: string, name: string): string | undefined {
  return new RegExp(`(?:^| )${name}:"([^"]*)"`).exec(tags)?.[1];
}
