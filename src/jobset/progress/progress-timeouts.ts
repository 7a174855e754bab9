/**
 * How long the workers of a JobSet may be silent before they count as hung: annotations of the
 * JobSet, which may change while it runs.
 */
import { formatDuration, parseDuration } from '@lockstep/kube/duration.ts';
import { invalidValue } from '@lockstep/kube/field-error.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { asked } from '../annotations/table.ts';
import { FIRST_PROGRESS_TIMEOUT, PROGRESS_TIMEOUT } from '../names.ts';

/** Absent: never. */
export interface ProgressTimeouts {
  /** Since the last line, in milliseconds; `Auto`: each agent derives it from what it has seen. */
  readonly progressTimeout?: ProgressTimeout;
  /** From the release of the epoch to the first line, in milliseconds. */
  readonly firstProgressTimeout?: number;
}

export type ProgressTimeout = number | 'Auto';

export const MIN_PROGRESS_TIMEOUT_MS = 10_000;
export const MAX_PROGRESS_TIMEOUT_MS = 7 * 24 * 60 * 60_000;

/** An invalid value counts as `Off`: nothing is ended because of a typing error. */
export function progressTimeouts(annotations: StringMap | undefined): ProgressTimeouts {
  const timeout = annotations?.[PROGRESS_TIMEOUT];
  const first = parseTimeout(annotations?.[FIRST_PROGRESS_TIMEOUT] ?? '');
  const usual: ProgressTimeout | undefined =
    timeout === 'Auto' ? timeout : parseTimeout(timeout ?? '');
  return withGiven(usual, first);
}

export function isSameTimeouts(a: ProgressTimeouts, b: ProgressTimeouts): boolean {
  return (
    a.progressTimeout === b.progressTimeout && a.firstProgressTimeout === b.firstProgressTimeout
  );
}

/** From the members of a hub's `state`; an older hub sends none. Undefined for an invalid one. */
export function parseTimeouts(fields: JsonObject): ProgressTimeouts | undefined {
  const { progressTimeout, firstProgressTimeout } = fields;
  const isUsual =
    progressTimeout === undefined || progressTimeout === 'Auto' || isTimeout(progressTimeout);
  if (!isUsual) return undefined;
  if (firstProgressTimeout !== undefined && !isTimeout(firstProgressTimeout)) return undefined;
  return withGiven(progressTimeout, firstProgressTimeout);
}

function withGiven(
  progressTimeout: ProgressTimeout | undefined,
  firstProgressTimeout: number | undefined,
): ProgressTimeouts {
  return {
    ...(progressTimeout === undefined ? {} : { progressTimeout }),
    ...defined({ firstProgressTimeout }),
  };
}

export function progressTimeoutErrors(annotations: StringMap | undefined): readonly FieldError[] {
  return [PROGRESS_TIMEOUT, FIRST_PROGRESS_TIMEOUT].flatMap((name) => {
    const text = asked(annotations, name);
    const isAuto = name === PROGRESS_TIMEOUT && text === 'Auto';
    if (text === undefined || isAuto) return [];
    if (parseTimeout(text) !== undefined) return [];
    const words = name === PROGRESS_TIMEOUT ? 'Off, Auto, or' : 'Off or';
    const [least, most] = [MIN_PROGRESS_TIMEOUT_MS, MAX_PROGRESS_TIMEOUT_MS].map(formatDuration);
    const detail = `expected ${words} a duration such as "5m", from ${least} to ${most}`;
    return [invalidValue(`metadata.annotations[${name}]`, text, detail)];
  });
}

function parseTimeout(text: string): number | undefined {
  const ms = parseDuration(text);
  return isTimeout(ms) ? ms : undefined;
}

function isTimeout(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    value >= MIN_PROGRESS_TIMEOUT_MS &&
    value <= MAX_PROGRESS_TIMEOUT_MS
  );
}
