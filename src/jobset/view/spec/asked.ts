/** What a JobSet asks for, and how its words are put together. */
import type { Stored } from '../../../kube/meta.ts';
import type { DefaultedSpec } from '../../defaults.ts';
import { type JobSet, type JobSetStatus, RESTART_MODES, type RestartMode } from '../../jobset.ts';
import { RESTART_MODE } from '../../names.ts';

export interface Asked {
  readonly metadata: Stored<JobSet>['metadata'];
  readonly spec: DefaultedSpec;
  readonly status: Pick<JobSetStatus, 'restartMode'>;
}

/** One sentence each. */
export type Words = readonly string[];

export function isInPlace({ spec }: Asked): boolean {
  return spec.failurePolicy?.restartStrategy === 'InPlaceRestart';
}

/** How its agents restart workers; undefined: the operator's configuration or its webhook decides. */
export function modeOf({ metadata, status }: Asked): RestartMode | undefined {
  const asked = metadata.annotations?.[RESTART_MODE];
  return RESTART_MODES.find((mode) => mode === asked) ?? status.restartMode;
}

/** Names that are listed before the rest is counted. */
const MAX_LISTED = 12;

/** `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[], joint: 'and' | 'or' = 'and'): string {
  const shown =
    names.length <= MAX_LISTED
      ? names
      : [...names.slice(0, MAX_LISTED), `${names.length - MAX_LISTED} more`];
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} ${joint} ${last}`;
}

/** `1 Job`, `2 Jobs`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
];

/** `1 hour`, `1 hour and 30 minutes`. */
export function durationWords(ms: number): string {
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, name] of UNITS) {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    if (count > 0) parts.push(counted(count, name));
  }
  if (rest > 0) parts.push(`${rest} ms`);
  return parts.length === 0 ? 'no time' : listed(parts);
}
