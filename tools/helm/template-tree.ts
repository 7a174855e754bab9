/**
 * Objects with template expressions in them. Two forms of an object, with and without a setting,
 * become one tree that holds what they share once and a condition around each difference.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { stringify } from 'yaml';

/** Text that is written as it stands, instead of a scalar. */
export class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Items of a list that are there only if the condition holds, a Go template pipeline. */
class Choice {
  readonly condition: string;
  readonly items: readonly unknown[];

  constructor(condition: string, items: readonly unknown[]) {
    this.condition = condition;
    this.items = items;
  }
}

/** An entry of an object that is left out if its value is empty. `value`: a path in the values. */
export class Optional {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

/** An entry of an object that is there only if the condition holds. */
class When {
  readonly condition: string;
  readonly value: unknown;

  constructor(condition: string, value: unknown) {
    this.condition = condition;
    this.value = value;
  }
}

const NOT = 'not ';

export function not(condition: string): string {
  return condition.startsWith(NOT) ? condition.slice(NOT.length) : `${NOT}${condition}`;
}

/** One tree for both: `on` where the condition holds, and `off` where it does not. */
export function either(condition: string, on: unknown, off: unknown): unknown {
  if (deepEqual(on, off)) return on;
  if (Array.isArray(on) && Array.isArray(off)) return eitherList(condition, on, off);
  if (isPlain(on) && isPlain(off)) {
    const keys = [...new Set([...Object.keys(on), ...Object.keys(off)])];
    // Without entries, an object needs its braces.
    const hasBoth = Object.keys(on).length > 0 && Object.keys(off).length > 0;
    if (hasBoth)
      return Object.fromEntries(
        keys.map((key) => {
          if (!Object.hasOwn(off, key)) return [key, new When(condition, on[key])];
          if (!Object.hasOwn(on, key)) return [key, new When(not(condition), off[key])];
          return [key, either(condition, on[key], off[key])];
        }),
      );
  }
  return new Expression(`{{ if ${condition} }}${flow(on)}{{ else }}${flow(off)}{{ end }}`);
}

/** Keeps the order of both lists, so an item that both have stands between the same neighbours. */
function eitherList(
  condition: string,
  on: readonly unknown[],
  off: readonly unknown[],
): readonly unknown[] {
  const names = on.map(nameOf);
  if (!names.includes(undefined) && deepEqual(names, off.map(nameOf))) {
    return on.map((item, index) => either(condition, item, off[index]));
  }
  const merged: unknown[] = [];
  let rest = off;
  let added: unknown[] = [];
  const close = (removed: readonly unknown[]): void => {
    if (added.length > 0) merged.push(new Choice(condition, added));
    if (removed.length > 0) merged.push(new Choice(not(condition), removed));
    added = [];
  };
  for (const item of on) {
    const at = rest.findIndex((other) => deepEqual(other, item));
    if (at < 0) {
      added.push(item);
      continue;
    }
    close(rest.slice(0, at));
    merged.push(item);
    rest = rest.slice(at + 1);
  }
  close(rest);
  return merged;
}

function nameOf(item: unknown): unknown {
  return isPlain(item) ? item['name'] : undefined;
}

/** The tree as a block of YAML, with expressions and conditions. */
export function templateText(tree: unknown): string {
  const texts: string[] = [];
  const held = (text: string): string => `TEMPLATE${texts.push(text) - 1}X`;
  const spread = (node: unknown): unknown => {
    if (node instanceof Expression) return held(node.text);
    if (Array.isArray(node)) return node.flatMap(listItems);
    if (!isPlain(node)) return node;
    return Object.fromEntries(Object.entries(node).flatMap(([key, value]) => entries(key, value)));
  };
  const entries = (key: string, value: unknown): readonly (readonly [string, unknown])[] => {
    if (value instanceof Optional)
      return [[held(`{{- with ${value.value} }}\n${key}: {{ toJson . }}\n{{- end }}`), null]];
    if (!(value instanceof When)) return [[key, spread(value)]];
    return [
      [held(`{{- if ${value.condition} }}`), null],
      ...entries(key, value.value),
      [held('{{- end }}'), null],
    ];
  };
  const listItems = (item: unknown): readonly unknown[] =>
    item instanceof Choice
      ? [held(`{{- if ${item.condition} }}`), ...item.items.flatMap(listItems), held('{{- end }}')]
      : [spread(item)];
  const yaml = literal(stringify(spread(tree), { lineWidth: 0, aliasDuplicateObjects: false }));
  const textOf = (index: string): string => texts[Number(index)] ?? '';
  return (
    yaml
      // A condition has a line of its own, without a dash or a value.
      .replaceAll(/^( *)(?:- )?TEMPLATE(\d+)X(?:: null)?$/gm, (line, indent: string, index) => {
        const text = textOf(index);
        if (!text.startsWith('{{- ')) return line;
        return text.replaceAll(/^/gm, indent);
      })
      .replaceAll(/TEMPLATE(\d+)X/g, (_, index) => textOf(index))
  );
}

/** Helm passes it on as it is: alerts have templates of Prometheus. */
function literal(text: string): string {
  return text.replaceAll('{{', '{{ "{{" }}');
}

/** On one line, as JSON, which YAML contains. */
function flow(tree: unknown): string {
  if (tree instanceof Expression) return tree.text;
  if (Array.isArray(tree)) return `[${tree.map(flow).join(', ')}]`;
  if (!isPlain(tree)) return literal(JSON.stringify(tree));
  const entries = Object.entries(tree).map(
    ([key, value]) => `${JSON.stringify(key)}: ${flow(value)}`,
  );
  return `{${entries.join(', ')}}`;
}

export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
