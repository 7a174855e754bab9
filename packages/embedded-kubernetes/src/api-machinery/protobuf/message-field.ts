/**
 * What the fields of messages are, from a notation that `tools/kubernetes-kinds` writes. A message
 * begins its line: its name, then its fields in the order of their numbers, which count up from 1 unless
 * `NUMBER>` says otherwise. `=` is a message whose fields are members of the outer object, `?` a value
 * that is absent when it is zero. Types that the schema does not tell follow a colon: see `TYPES`.
 */
import { MESSAGES } from './messages.generated.ts';

/** What a field of a message is called in JSON, and what is particular to it. */
export interface MessageField {
  /** Empty for a message whose fields are members of the outer object. */
  readonly name: string;
  /** The whole name of that message. */
  readonly inlined: string | undefined;
  /** Zero means absent: JSON leaves it out. */
  readonly isOptional: boolean;
  readonly type: SpecialType | undefined;
}

/** Types that are messages on the wire and plain values in JSON, or the other way round. */
export type SpecialType =
  | 'Quantity'
  | 'IntOrString'
  | 'Time'
  | 'MicroTime'
  | 'Bytes'
  | 'RawJson'
  | 'ExtraValue';

/** The fields of a message by number; undefined for a message that is not known. */
export function messageFields(title: string): ReadonlyMap<number, MessageField> | undefined {
  const dot = title.lastIndexOf('.');
  const of = title.slice(0, dot);
  const known = PARSED.get(title);
  if (known !== undefined) return known;
  const line = linesOf(of).get(title.slice(dot + 1));
  if (line === undefined) return undefined;
  const fields = parseFields(of, line);
  PARSED.set(title, fields);
  return fields;
}

const TYPES: Readonly<Record<string, SpecialType>> = {
  Q: 'Quantity',
  I: 'IntOrString',
  T: 'Time',
  M: 'MicroTime',
  B: 'Bytes',
  R: 'RawJson',
  E: 'ExtraValue',
};

const PARSED = new Map<string, ReadonlyMap<number, MessageField>>();
const LINES = new Map<string, ReadonlyMap<string, string>>();

function linesOf(of: string): ReadonlyMap<string, string> {
  const known = LINES.get(of);
  if (known !== undefined) return known;
  const lines = (MESSAGES[of] ?? '').split('\n');
  const byName = new Map(lines.map((line) => splitOnce(line, ' ')));
  LINES.set(of, byName);
  return byName;
}

function parseFields(of: string, line: string): ReadonlyMap<number, MessageField> {
  const fields = new Map<number, MessageField>();
  let number = 0;
  for (const word of line.split(' ')) {
    const [, jump, isInlined, name = '', optional, type = ''] =
      /^(?:(\d+)>)?(=)?([^?:]+)(\?)?(?::(\w))?$/.exec(word) ?? [];
    number = jump === undefined ? number + 1 : Number(jump);
    fields.set(number, {
      name: isInlined === undefined ? name : '',
      inlined: isInlined === undefined ? undefined : name.includes('.') ? name : `${of}.${name}`,
      isOptional: optional !== undefined,
      type: TYPES[type],
    });
  }
  return fields;
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
