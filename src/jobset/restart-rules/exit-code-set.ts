import type { ContainerRestartRule } from '@lockstep/kube/objects/pod.ts';

/**
 * Sets of exit codes as restart rules write them: the codes in a list, or all others.
 * They are closed under union and difference, so rules can be computed exactly.
 */
export interface ExitCodeSet {
  readonly isAllBut: boolean;
  readonly values: ReadonlySet<number>;
}

export const NO_EXIT: ExitCodeSet = { isAllBut: false, values: new Set() };
export const EVERY_EXIT: ExitCodeSet = { isAllBut: true, values: new Set() };
export const EVERY_FAILURE: ExitCodeSet = { isAllBut: true, values: new Set([0]) };

/** The exit codes that a rule matches. Nodes read a rule without exit codes as one for none. */
export function exitCodesOf({ exitCodes }: ContainerRestartRule): ExitCodeSet {
  if (exitCodes === undefined) return NO_EXIT;
  return { isAllBut: exitCodes.operator === 'NotIn', values: new Set(exitCodes.values) };
}

export function union(a: ExitCodeSet, b: ExitCodeSet): ExitCodeSet {
  return complement(minus(complement(a), b));
}

export function minus(a: ExitCodeSet, b: ExitCodeSet): ExitCodeSet {
  const inB = (code: number): boolean => b.values.has(code) !== b.isAllBut;
  if (!a.isAllBut) return { isAllBut: false, values: filtered(a.values, (code) => !inB(code)) };
  if (!b.isAllBut) return { isAllBut: true, values: new Set([...a.values, ...b.values]) };
  return { isAllBut: false, values: filtered(b.values, (code) => !a.values.has(code)) };
}

/** The most values of one rule in the API. */
export const EXIT_CODE_LIMIT = 255;
const LAST_EXIT_CODE = 255;

/** Rules with an action that together match exactly the set, within 0 to 255. */
export function rulesFor(
  action: ContainerRestartRule['action'],
  set: ExitCodeSet,
): readonly ContainerRestartRule[] {
  const values = [...set.values].sort((a, b) => a - b);
  if (set.isAllBut && values.length <= EXIT_CODE_LIMIT) {
    return [{ action, exitCodes: { operator: 'NotIn', values } }];
  }
  const listed = set.isAllBut
    ? Array.from({ length: LAST_EXIT_CODE + 1 }, (_, code) => code).filter(
        (code) => !set.values.has(code),
      )
    : values;
  const rules: ContainerRestartRule[] = [];
  for (let i = 0; i < listed.length; i += EXIT_CODE_LIMIT) {
    const part = listed.slice(i, i + EXIT_CODE_LIMIT);
    rules.push({ action, exitCodes: { operator: 'In', values: part } });
  }
  return rules;
}

function complement({ isAllBut, values }: ExitCodeSet): ExitCodeSet {
  return { isAllBut: !isAllBut, values };
}

function filtered(
  values: ReadonlySet<number>,
  isKept: (code: number) => boolean,
): ReadonlySet<number> {
  return new Set([...values].filter(isKept));
}
