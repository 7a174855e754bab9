/** Comprehensions: `all`, `exists`, `exists_one`, and those that build lists and maps. */
import { COST_EXCEEDED } from './budget.ts';
import type { LoopKind } from './checked.ts';
import { type Frame, paid, type Run } from './frame.ts';
import {
  CelError,
  CelList,
  CelMap,
  type CelResult,
  type CelValue,
  keyText,
  NO_SUCH_OVERLOAD,
} from './value.ts';

export interface Loop {
  readonly loop: LoopKind;
  readonly range: Run;
  readonly slots: readonly number[];
  readonly filter: Run | undefined;
  readonly body: Run;
}

export function runLoop(loop: Loop): Run {
  return (frame) => {
    const range = loop.range(frame);
    if (range instanceof CelError) return range;
    const passes = passesOver(range, loop.slots.length);
    if (passes === undefined) return NO_SUCH_OVERLOAD;
    // Reading the range is paid for before anything is made of it.
    if (!frame.budget.spend(passes.size)) return COST_EXCEEDED;
    switch (loop.loop) {
      case 'All':
        return quantify(loop, frame, passes, false);
      case 'Exists':
        return quantify(loop, frame, passes, true);
      case 'ExistsOne':
        return existsOne(loop, frame, passes);
      case 'List':
        return collect(loop, frame, passes);
      case 'Map':
        return collectMap(loop, frame, passes);
    }
  };
}

/** The variables of a loop, pass by pass; `second` only in loops with two. */
interface Passes {
  readonly size: number;
  readonly first: (pass: number) => CelResult;
  readonly second: (pass: number) => CelResult;
}

function passesOver(range: CelValue, variables: number): Passes | undefined {
  if (range instanceof CelList) {
    const { size } = range;
    const item = (pass: number): CelResult => range.at(pass);
    return { size, first: variables === 1 ? item : BigInt, second: item };
  }
  if (!(range instanceof CelMap)) return undefined;
  const keys = range.keys();
  const key = (pass: number): CelValue => keys[pass] ?? null;
  return {
    size: keys.length,
    first: key,
    second: (pass) => range.get(key(pass)) ?? null,
  };
}

function enter({ slots }: Loop, frame: Frame, passes: Passes, pass: number): void {
  const [first, second] = slots;
  if (first !== undefined) frame.slots[first] = paid(passes.first(pass), frame);
  if (second !== undefined) frame.slots[second] = paid(passes.second(pass), frame);
}

/** A pass with the value `decisive` decides, even if other passes fail. */
function quantify(loop: Loop, frame: Frame, passes: Passes, decisive: boolean): CelResult {
  let failure: CelError | undefined;
  for (let pass = 0; pass < passes.size; pass++) {
    enter(loop, frame, passes, pass);
    const value = loop.body(frame);
    if (frame.budget.isExceeded) return COST_EXCEEDED;
    if (value === decisive) return decisive;
    if (value instanceof CelError) failure ??= value;
    else if (typeof value !== 'boolean') failure ??= NO_SUCH_OVERLOAD;
  }
  return failure ?? !decisive;
}

function existsOne(loop: Loop, frame: Frame, passes: Passes): CelResult {
  let found = 0;
  for (let pass = 0; pass < passes.size; pass++) {
    enter(loop, frame, passes, pass);
    const value = loop.body(frame);
    if (value instanceof CelError) return value;
    if (typeof value !== 'boolean') return NO_SUCH_OVERLOAD;
    if (value) found++;
  }
  return found === 1;
}

/** The value of one pass; undefined if the filter leaves it out. */
function selected(loop: Loop, frame: Frame, passes: Passes, pass: number): CelResult | undefined {
  enter(loop, frame, passes, pass);
  if (loop.filter !== undefined) {
    const isWanted = loop.filter(frame);
    if (isWanted instanceof CelError) return isWanted;
    if (typeof isWanted !== 'boolean') return NO_SUCH_OVERLOAD;
    if (!isWanted) return undefined;
  }
  return loop.body(frame);
}

function collect(loop: Loop, frame: Frame, passes: Passes): CelResult {
  const values: CelValue[] = [];
  for (let pass = 0; pass < passes.size; pass++) {
    const value = selected(loop, frame, passes, pass);
    if (value instanceof CelError) return value;
    if (value !== undefined) values.push(value);
  }
  return CelList.of(values);
}

/** A map with the keys of the range, or with the indexes if the range is a list. */
function collectMap(loop: Loop, frame: Frame, passes: Passes): CelResult {
  const values = new Map<string, readonly [CelValue, CelValue]>();
  for (let pass = 0; pass < passes.size; pass++) {
    const value = selected(loop, frame, passes, pass);
    if (value instanceof CelError) return value;
    const key = passes.first(pass);
    const text = key instanceof CelError ? undefined : keyText(key);
    if (value === undefined || key instanceof CelError || text === undefined) continue;
    values.set(text, [key, value]);
  }
  return CelMap.of(values);
}
