/** Field numbers of messages in the notation that `packages/embedded-kubernetes/src/api-machinery/protobuf/message-field.ts` reads. */
import { type GoApi, splitTitle } from './go-api.ts';
import type { GoField, GoType } from './go-types.ts';

/** One line for each message of `titles` and of what is inlined in them, by the prefix they share. */
export function messageTexts(
  titles: readonly string[],
  go: GoApi,
): Readonly<Record<string, string>> {
  const names = new Set<string>();
  const add = (title: string): void => {
    names.add(title);
    for (const field of go.struct(title) ?? []) if (isInlined(field)) add(field.type.name);
  };
  titles.forEach(add);
  const texts: Record<string, string> = {};
  for (const title of [...names].sort()) {
    const [prefix, name] = splitTitle(title);
    const words = fieldWords(go.struct(title) ?? [], prefix, go);
    texts[prefix] = `${texts[prefix] ?? ''}${[name, ...words].join(' ')}\n`;
  }
  return texts;
}

function isInlined({ name, number }: GoField): boolean {
  return name === '' && number !== undefined;
}

function fieldWords(fields: readonly GoField[], prefix: string, go: GoApi): readonly string[] {
  const numbered = fields
    .filter((field) => field.number !== undefined)
    .sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  return numbered.map((field, index) => {
    const jump = field.number === (numbered[index - 1]?.number ?? 0) + 1 ? '' : `${field.number}>`;
    return `${jump}${fieldWord(field, prefix, go)}`;
  });
}

function fieldWord(field: GoField, prefix: string, go: GoApi): string {
  if (isInlined(field)) {
    const [of, name] = splitTitle(field.type.name);
    return `=${of === prefix ? name : field.type.name}`;
  }
  const type = go.resolve(field.type);
  const special = SPECIAL_TYPES.get(field.type.name) ?? specialType(type);
  const isValue = !type.name.includes('.') || STRUCTS_OMITTED.includes(special ?? '');
  const isOmitted = field.omitsEmpty && type.wrapping === '' && isValue;
  return `${field.name}${isOmitted ? '?' : ''}${special === undefined ? '' : `:${special}`}`;
}

/** JSON has no member for them where nothing is in them. */
const STRUCTS_OMITTED: readonly string[] = ['I', 'M', 'T'];

/** Undefined for what the schema tells well enough. */
function specialType({ wrapping, name }: GoType): string | undefined {
  return name === 'byte' && wrapping.endsWith('[]') ? 'B' : SPECIAL_TYPES.get(name);
}

const SPECIAL_TYPES: ReadonlyMap<string, string> = new Map([
  ['io.k8s.api.authentication.v1.ExtraValue', 'E'],
  ['io.k8s.api.authorization.v1.ExtraValue', 'E'],
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'Q'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', 'R'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', 'M'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', 'T'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'I'],
]);
