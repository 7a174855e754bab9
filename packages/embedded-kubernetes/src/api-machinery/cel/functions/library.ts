/** All functions by name; the name of a method begins with a dot. */
import type { Overload } from '../overload.ts';
import { NETWORK_FUNCTIONS } from './addresses.ts';
import { CONVERSIONS } from './conversions.ts';
import { LIST_SHAPE_FUNCTIONS } from './list-shapes.ts';
import { LIST_FUNCTIONS } from './lists.ts';
import { FORMAT_FUNCTIONS } from './named-formats.ts';
import { OPERATORS } from './operators.ts';
import { OPTIONAL_FUNCTIONS } from './optionals.ts';
import { QUANTITY_FUNCTIONS } from './quantities.ts';
import { REGEX_FUNCTIONS } from './regex.ts';
import { STRING_FUNCTIONS } from './strings.ts';
import { TIME_FUNCTIONS } from './times.ts';

const ALL: readonly Overload[] = [
  ...OPERATORS,
  ...CONVERSIONS,
  ...STRING_FUNCTIONS,
  ...REGEX_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...LIST_SHAPE_FUNCTIONS,
  ...TIME_FUNCTIONS,
  ...OPTIONAL_FUNCTIONS,
  ...QUANTITY_FUNCTIONS,
  ...NETWORK_FUNCTIONS,
  ...FORMAT_FUNCTIONS,
];

export const LIBRARY: ReadonlyMap<string, readonly Overload[]> = byName(ALL);

function byName(overloads: readonly Overload[]): ReadonlyMap<string, readonly Overload[]> {
  const names = new Map<string, Overload[]>();
  for (const overload of overloads) {
    const known = names.get(overload.name);
    if (known === undefined) names.set(overload.name, [overload]);
    else known.push(overload);
  }
  return names;
}
