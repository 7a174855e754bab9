/** The input of the words about a JobSet, and parts of sentences. */

import { listed } from '@lockstep/kube/listed.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { DefaultedSpec } from '../../defaults.ts';
import type { JobSet } from '../../jobset.ts';
import { type JobSetStatus, RESTART_MODES, type RestartMode } from '../../jobset-status.ts';
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
