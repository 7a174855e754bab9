/**
 * Checks the types of an expression and reports issues in cel-go's words: unknown names, unknown
 * fields, calls that no overload takes. A wrong part counts as `dyn`, so that all issues are found
 * at once.
 */
import { assert } from '@lockstep/kube/assert.ts';
import type { Checked, Entry, Item } from './checked.ts';
import { LIBRARY } from './functions/library.ts';
import { literalIssues, literalType } from './literal.ts';
import { expandMacro, type MacroContext } from './macros.ts';
import type { CallSyntax, CelIssue, EntrySyntax, ItemSyntax, Syntax } from './syntax.ts';
import {
  type Bindings,
  BOOL_TYPE,
  type CelType,
  DYN_TYPE,
  fits,
  INT_TYPE,
  joined,
  optionalOf,
  substituted,
  TYPE_TYPE,
  typeText,
} from './type.ts';
import { TypeValue } from './value.ts';

export interface CheckResult {
  readonly checked: Checked;
  readonly issues: readonly CelIssue[];
  /** The number of variables, including variables of macros; declared ones come first. */
  readonly slots: number;
  /** The declared variables that the expression reads. */
  readonly uses: ReadonlySet<string>;
}

/** `variables` in the order of their slots. */
export function check(
  syntax: Syntax,
  variables: readonly (readonly [name: string, type: CelType])[],
): CheckResult {
  const checker = new Checker(variables);
  const checked = checker.check(syntax);
  const { issues, slots, uses } = checker;
  return { checked, issues: [...issues].sort((a, b) => a.at - b.at), slots, uses };
}

interface Variable {
  readonly slot: number;
  readonly type: CelType;
}

/** Type names; a variable of that name hides one. */
const TYPE_NAMES: ReadonlySet<string> = new Set(
  'bool bytes double int uint string list map null_type type'.split(' '),
);

class Checker implements MacroContext {
  readonly issues: CelIssue[] = [];
  readonly uses = new Set<string>();
  readonly #declared: ReadonlySet<string>;
  readonly #scope = new Map<string, Variable>();
  #slots = 0;
  /** The depth of nested `format` calls, whose arguments may be of any types. */
  #formats = 0;

  constructor(variables: readonly (readonly [string, CelType])[]) {
    this.#declared = new Set(variables.map(([name]) => name));
    for (const [name, type] of variables) this.#scope.set(name, { slot: this.#slots++, type });
  }

  get slots(): number {
    return this.#slots;
  }

  check(syntax: Syntax): Checked {
    switch (syntax.kind) {
      case 'Literal':
        return { kind: 'Literal', value: syntax.value, type: literalType(syntax.value) };
      case 'Name':
        return this.#name(syntax.name, syntax.at);
      case 'Select':
        return this.select(syntax, syntax.isOptional ? 'Optional' : 'Value', syntax.at);
      case 'Call':
        return this.#call(syntax);
      case 'List':
        return this.#list(syntax.items);
      case 'Map':
        return this.#map(syntax.entries);
      case 'And':
      case 'Or':
        return this.#logical(syntax.kind, syntax.operands);
    }
  }

  report(at: number, message: string): Checked {
    this.issues.push({ at, message });
    return { kind: 'Literal', value: null, type: DYN_TYPE };
  }

  /** Checks `body` with `names` as variables, and gives it their slots. */
  bound<T>(
    names: readonly (readonly [name: string, type: CelType])[],
    body: (slots: readonly number[]) => T,
  ): T {
    const hidden = names.map(([name]) => [name, this.#scope.get(name)] as const);
    const slots = names.map(([name, type]) => {
      const slot = this.#slots++;
      this.#scope.set(name, { slot, type });
      return slot;
    });
    const result = body(slots);
    for (const [name, before] of hidden) {
      if (before === undefined) this.#scope.delete(name);
      else this.#scope.set(name, before);
    }
    return result;
  }

  select(
    { operand: of, field }: Extract<Syntax, { kind: 'Select' }>,
    mode: 'Value' | 'Optional' | 'Test',
    at: number,
  ): Checked {
    const operand = this.check(of);
    const { type } = operand;
    const inner = type.kind === 'optional' ? type.of : type;
    const found = this.#fieldType(inner, field, at);
    const isOptional = mode === 'Optional' || (type.kind === 'optional' && mode === 'Value');
    const result = mode === 'Test' ? BOOL_TYPE : isOptional ? optionalOf(found) : found;
    return { kind: 'Select', operand, field, mode, type: result };
  }

  #fieldType(type: CelType, field: string, at: number): CelType {
    if (type.kind === 'dyn') return DYN_TYPE;
    if (type.kind === 'map') return type.value;
    if (type.kind === 'object') {
      return type.fields.get(field) ?? this.report(at, `undefined field '${field}'`).type;
    }
    return this.report(at, `type '${typeText(type)}' does not support field selection`).type;
  }

  #name(name: string, at: number): Checked {
    const variable = this.#scope.get(name);
    if (variable !== undefined) {
      if (variable.slot < this.#declared.size) this.uses.add(name);
      return { kind: 'Variable', ...variable };
    }
    if (TYPE_NAMES.has(name)) {
      return { kind: 'Literal', value: new TypeValue(name), type: TYPE_TYPE };
    }
    return this.report(at, undeclared(name));
  }

  #call(syntax: CallSyntax): Checked {
    const { name, receiver, args, at } = syntax;
    const isNamespace = receiver?.kind === 'Name' && !this.#scope.has(receiver.name);
    const namespace = isNamespace ? receiver.name : undefined;
    const expanded = expandMacro(this, syntax);
    if (expanded !== undefined) return expanded;
    const qualified = `${namespace}.${name}`;
    if (namespace !== undefined && LIBRARY.has(qualified)) {
      return this.#resolve(qualified, at, this.#all(args));
    }
    if (receiver !== undefined) {
      this.issues.push(...literalIssues(`.${name}`, args[0]));
      const isFormat = name === 'format';
      if (isFormat) this.#formats++;
      const all = this.#all([receiver, ...args]);
      if (isFormat) this.#formats--;
      return this.#resolve(`.${name}`, at, all);
    }
    const checked = this.#all(args);
    this.issues.push(...literalIssues(name, args[0]));
    switch (name) {
      case '_==_':
      case '_!=_':
        return this.#equal(name, at, checked);
      case '_[_]':
      case '_[?_]':
        return this.#index(name === '_[?_]', at, checked);
      case '_?_:_':
        return this.#conditional(at, checked);
      default:
        return this.#resolve(name, at, checked);
    }
  }

  #all(parts: readonly Syntax[]): readonly Checked[] {
    return parts.map((part) => this.check(part));
  }

  #resolve(name: string, at: number, args: readonly Checked[]): Checked {
    const known = LIBRARY.get(name);
    if (known === undefined) return this.report(at, undeclared(name.replace(/^\./, '')));
    const results: CelType[] = [];
    const overloads = known.filter(({ params, result }) => {
      const bindings: Bindings = new Map();
      const isFit =
        params.length === args.length &&
        params.every((param, index) => fits(param, args[index]?.type ?? DYN_TYPE, bindings));
      if (isFit) results.push(substituted(result, bindings));
      return isFit;
    });
    if (overloads.length === 0) return this.report(at, noOverload(name, args));
    return { kind: 'Call', overloads, args, type: joined(results) };
  }

  #equal(name: '_==_' | '_!=_', at: number, args: readonly Checked[]): Checked {
    const [left, right] = args;
    assert(left !== undefined && right !== undefined, `${name} has two operands`);
    if (!areComparable(left.type, right.type)) return this.report(at, noOverload(name, args));
    return { kind: 'Equal', left, right, isNegated: name === '_!=_', type: BOOL_TYPE };
  }

  #index(isOptional: boolean, at: number, args: readonly Checked[]): Checked {
    const [operand, index] = args;
    assert(operand !== undefined && index !== undefined, 'an index has two operands');
    const { type } = operand;
    const container = type.kind === 'optional' ? type.of : type;
    const member = memberType(container, index.type);
    if (member === undefined) {
      return this.report(at, noOverload(isOptional ? '_[?_]' : '_[_]', args));
    }
    const result = isOptional || type.kind === 'optional' ? optionalOf(member) : member;
    return { kind: 'Index', operand, index, isOptional, type: result };
  }

  #conditional(at: number, args: readonly Checked[]): Checked {
    const [test, chosen, other] = args;
    assert(
      test !== undefined && chosen !== undefined && other !== undefined,
      'a conditional has three operands',
    );
    const isBool = fits(BOOL_TYPE, test.type, new Map());
    if (!isBool || !areComparable(chosen.type, other.type)) {
      return this.report(at, noOverload('_?_:_', args));
    }
    return { kind: 'Conditional', test, chosen, other, type: joined([chosen.type, other.type]) };
  }

  #logical(kind: 'And' | 'Or', parts: readonly Syntax[]): Checked {
    const operands = this.#all(parts);
    operands.forEach(({ type }, index) => {
      if (fits(BOOL_TYPE, type, new Map())) return;
      const message = `expected type 'bool' but found '${typeText(type)}'`;
      this.report(parts[index]?.at ?? 0, message);
    });
    return { kind, operands, type: BOOL_TYPE };
  }

  #list(syntax: readonly ItemSyntax[]): Checked {
    const items = syntax.map(({ value, isOptional }): Item => {
      return { value: this.check(value), isOptional };
    });
    const element = this.#agreed(items, syntax);
    return { kind: 'List', items, type: { kind: 'list', element, maxSize: items.length } };
  }

  #map(syntax: readonly EntrySyntax[]): Checked {
    const entries = syntax.map(({ key, value, isOptional }): Entry => {
      return { key: this.check(key), value: this.check(value), isOptional };
    });
    const keys = entries.map(({ key }) => ({ value: key, isOptional: false }));
    const key = this.#agreed(
      keys,
      syntax.map((entry) => ({ value: entry.key, isOptional: false })),
    );
    const value = this.#agreed(entries, syntax);
    return { kind: 'Map', entries, type: { kind: 'map', key, value, maxSize: entries.length } };
  }

  /** Checks that the items of a literal have one type. */
  #agreed(items: readonly Item[], syntax: readonly ItemSyntax[]): CelType {
    const types = items.map(({ value: { type }, isOptional }) =>
      isOptional && type.kind === 'optional' ? type.of : type,
    );
    const [first = DYN_TYPE] = types;
    const odd = types.findIndex((type) => !areComparable(first, type));
    if (odd < 0 || this.#formats > 0) return joined(types);
    const found = typeText(types[odd] ?? DYN_TYPE);
    const message = `expected type '${typeText(first)}' but found '${found}'`;
    return this.report(syntax[odd]?.value.at ?? 0, message).type;
  }
}

function areComparable(a: CelType, b: CelType): boolean {
  return fits(a, b, new Map()) || fits(b, a, new Map());
}

function memberType(container: CelType, index: CelType): CelType | undefined {
  if (container.kind === 'dyn') return DYN_TYPE;
  if (container.kind === 'list') {
    return fits(INT_TYPE, index, new Map()) ? container.element : undefined;
  }
  if (container.kind !== 'map') return undefined;
  return fits(container.key, index, new Map()) ? container.value : undefined;
}

function undeclared(name: string): string {
  const why = name === 'authorizer' ? '; authorizer is not supported' : '';
  return `undeclared reference to '${name}' (in container '')${why}`;
}

function noOverload(name: string, args: readonly Checked[]): string {
  const types = args.map(({ type }) => typeText(type));
  const [receiver = '', ...rest] = types;
  const applied = name.startsWith('.')
    ? `${receiver}.(${rest.join(', ')})`
    : `(${types.join(', ')})`;
  return `found no matching overload for '${name.replace(/^\./, '')}' applied to '${applied}'`;
}
