/**
 * Macros: calls whose arguments are not evaluated as values, such as `has(a.b)` and `list.all(x, x
 * > 0)`, including the comprehensions with two variables.
 */
import { assert } from '@lockstep/kube/assert.ts';
import type { Checked, LoopKind } from './checked.ts';
import type { CallSyntax, Syntax } from './syntax.ts';
import { BOOL_TYPE, type CelType, DYN_TYPE, fits, INT_TYPE, optionalOf, typeText } from './type.ts';

/** What macros need from the checker. */
export interface MacroContext {
  check(syntax: Syntax): Checked;
  report(at: number, message: string): Checked;
  /** An unknown field is reported at `at`. */
  select(syntax: Extract<Syntax, { kind: 'Select' }>, mode: 'Test', at: number): Checked;
  bound<T>(
    names: readonly (readonly [name: string, type: CelType])[],
    body: (slots: readonly number[]) => T,
  ): T;
}

/** The meaning of a call that is a macro; undefined for any other call. */
export function expandMacro(context: MacroContext, syntax: CallSyntax): Checked | undefined {
  const { name, receiver, args } = syntax;
  if (receiver === undefined) {
    return name === 'has' && args.length === 1 ? testField(context, syntax) : undefined;
  }
  if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2) {
    return optionalMap(context, syntax, receiver);
  }
  const shape = LOOPS[`${name}/${args.length}`];
  return shape === undefined ? undefined : loop(context, syntax, receiver, shape);
}

interface LoopShape {
  readonly loop: LoopKind;
  readonly variables: 1 | 2;
  /** Whether a condition comes before the body; `filter` has a condition only. */
  readonly filter: 'None' | 'First' | 'Only';
}

const ONE = { variables: 1, filter: 'None' } as const;
const TWO = { variables: 2, filter: 'None' } as const;

const LOOPS: Readonly<Record<string, LoopShape>> = {
  'all/2': { loop: 'All', ...ONE },
  'exists/2': { loop: 'Exists', ...ONE },
  'exists_one/2': { loop: 'ExistsOne', ...ONE },
  'map/2': { loop: 'List', ...ONE },
  'map/3': { loop: 'List', variables: 1, filter: 'First' },
  'filter/2': { loop: 'List', variables: 1, filter: 'Only' },
  'all/3': { loop: 'All', ...TWO },
  'exists/3': { loop: 'Exists', ...TWO },
  'existsOne/3': { loop: 'ExistsOne', ...TWO },
  'transformList/3': { loop: 'List', ...TWO },
  'transformList/4': { loop: 'List', variables: 2, filter: 'First' },
  'transformMap/3': { loop: 'Map', ...TWO },
  'transformMap/4': { loop: 'Map', variables: 2, filter: 'First' },
};

function loop(
  context: MacroContext,
  { args, at, name: macro }: CallSyntax,
  receiver: Syntax,
  { loop: kind, variables, filter: wanted }: LoopShape,
): Checked {
  const range = context.check(receiver);
  const types = rangeTypes(range.type, variables);
  if (types === undefined) {
    const message = `expression of type '${typeText(range.type)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
    return context.report(receiver.at, message);
  }
  const names: [string, CelType][] = [];
  for (const [index, type] of types.entries()) {
    const argument = args[index];
    if (argument?.kind !== 'Name') {
      return context.report(argument?.at ?? at, 'argument is not an identifier');
    }
    names.push([argument.name, type]);
  }
  return context.bound(names, (slots) => {
    const [first, second] = args.slice(variables);
    const body = wanted === 'First' ? second : wanted === 'Only' ? args[0] : first;
    assert(body !== undefined, `${macro} has a body`);
    const filter = wanted === 'None' || first === undefined ? undefined : context.check(first);
    const checked = context.check(body);
    const isTest = kind !== 'List' && kind !== 'Map';
    const test = isTest ? checked : filter;
    if (test !== undefined && !fits(BOOL_TYPE, test.type, new Map())) {
      const message = `expected type 'bool' but found '${typeText(test.type)}'`;
      return context.report((isTest ? body : first)?.at ?? at, message);
    }
    const type = loopType(kind, range.type, checked.type);
    return { kind: 'Loop', loop: kind, range, slots, filter, body: checked, type };
  });
}

/** The types of the variables; undefined for a type that cannot be looped over. */
function rangeTypes(range: CelType, variables: 1 | 2): readonly CelType[] | undefined {
  const isSingle = variables === 1;
  if (range.kind === 'dyn') return isSingle ? [DYN_TYPE] : [DYN_TYPE, DYN_TYPE];
  if (range.kind === 'list') return isSingle ? [range.element] : [INT_TYPE, range.element];
  if (range.kind === 'map') return isSingle ? [range.key] : [range.key, range.value];
  return undefined;
}

function loopType(kind: LoopKind, range: CelType, body: CelType): CelType {
  const { maxSize } = { maxSize: undefined, ...range };
  const sized = maxSize === undefined ? {} : { maxSize };
  switch (kind) {
    case 'All':
    case 'Exists':
    case 'ExistsOne':
      return BOOL_TYPE;
    case 'List':
      return { kind: 'list', element: body, ...sized };
    case 'Map': {
      const key = range.kind === 'map' ? range.key : range.kind === 'list' ? INT_TYPE : DYN_TYPE;
      return { kind: 'map', key, value: body, ...sized };
    }
  }
}

function testField(context: MacroContext, { args, at }: CallSyntax): Checked {
  const [field] = args;
  if (field?.kind !== 'Select' || field.isOptional) {
    return context.report(field?.at ?? at, 'invalid argument to has() macro');
  }
  return context.select(field, 'Test', at);
}

function optionalMap(
  context: MacroContext,
  { name: macro, args, at }: CallSyntax,
  receiver: Syntax,
): Checked {
  const [name, bodySyntax] = args;
  if (name?.kind !== 'Name' || bodySyntax === undefined) {
    return context.report(name?.at ?? at, `${macro}() variable name must be a simple identifier`);
  }
  const operand = context.check(receiver);
  if (operand.type.kind !== 'optional' && operand.type.kind !== 'dyn') {
    const message = `found no matching overload for '${macro}' applied to '${typeText(operand.type)}'`;
    return context.report(at, message);
  }
  const inner = operand.type.kind === 'optional' ? operand.type.of : DYN_TYPE;
  const isFlat = macro === 'optFlatMap';
  return context.bound([[name.name, inner]], ([slot = 0]) => {
    const body = context.check(bodySyntax);
    const type = isFlat ? body.type : optionalOf(body.type);
    return { kind: 'OptionalMap', slot, operand, body, isFlat, type };
  });
}
