/**
 * Annotations of a JobSet about restarts that do not help: when a member leaves its node, how many
 * restarts are allowed, and how many without progress. They may change while the JobSet runs.
 */
import { formatDuration, parseDuration } from '@lockstep/kube/duration.ts';
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { DISRUPTION_TARGET } from '@lockstep/kube/objects/disruption.ts';
import type { PodFailurePolicyRule } from '@lockstep/kube/objects/job.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { asked } from '../annotations/table.ts';
import type { DefaultedSpec } from '../defaults.ts';
import {
  EXTRA_RESTARTS,
  MAX_RESTARTS_WITHOUT_PROGRESS,
  PREFLIGHT,
  REPLACE_AFTER,
} from '../names.ts';

/** A Pod that was the first to fail `strikes` times within `withinMs` is replaced. */
export interface ReplaceAfter {
  readonly strikes: number;
  readonly withinMs: number;
}

/** The recorded restarts have no room for more beside the strikes of other members. */
const MAX_STRIKES = 10;
const MIN_WITHIN_MS = 60_000;
const MAX_WITHIN_MS = 7 * 24 * 60 * 60_000;
const MAX_EXTRA_RESTARTS = 1_000_000;
const MAX_WITHOUT_PROGRESS = 1000;

/** Undefined: never, also for an invalid value. */
export function replaceAfter(annotations: StringMap | undefined): ReplaceAfter | undefined {
  const [strikesText = '', withinText = '', ...more] = (annotations?.[REPLACE_AFTER] ?? '').split(
    '/',
  );
  const strikes = parseCount(strikesText, 1, MAX_STRIKES);
  const withinMs = parseDuration(withinText);
  if (more.length > 0 || strikes === undefined || withinMs === undefined) return undefined;
  return withinMs >= MIN_WITHIN_MS && withinMs <= MAX_WITHIN_MS ? { strikes, withinMs } : undefined;
}

/** 0 for an invalid value. */
export function extraRestarts(annotations: StringMap | undefined): number {
  return parseCount(annotations?.[EXTRA_RESTARTS] ?? '', 0, MAX_EXTRA_RESTARTS) ?? 0;
}

/** Undefined: without limit, also for an invalid value. */
export function maxRestartsWithoutProgress(annotations: StringMap | undefined): number | undefined {
  return parseCount(annotations?.[MAX_RESTARTS_WITHOUT_PROGRESS] ?? '', 1, MAX_WITHOUT_PROGRESS);
}

export function ladderErrors(annotations: StringMap | undefined): readonly FieldError[] {
  const problem = (key: string, isValid: (text: string) => boolean, expected: string) => {
    const text = asked(annotations, key);
    if (text === undefined || isValid(text)) return [];
    return [invalidValue(`metadata.annotations[${key}]`, text, `expected ${expected}`)];
  };
  const [least, most] = [MIN_WITHIN_MS, MAX_WITHIN_MS].map(formatDuration);
  return [
    ...problem(
      REPLACE_AFTER,
      () => replaceAfter(annotations) !== undefined,
      `Off, or a number from 1 to ${MAX_STRIKES} and a duration from ${least} to ${most}, such as "3/1h"`,
    ),
    ...problem(
      EXTRA_RESTARTS,
      (text) => parseCount(text, 0, MAX_EXTRA_RESTARTS) !== undefined,
      `Off, or a whole number from 0 to ${MAX_EXTRA_RESTARTS}`,
    ),
    ...problem(
      MAX_RESTARTS_WITHOUT_PROGRESS,
      (text) => parseCount(text, 1, MAX_WITHOUT_PROGRESS) !== undefined,
      `Off, or a whole number from 1 to ${MAX_WITHOUT_PROGRESS}`,
    ),
  ];
}

/** Warnings where these annotations cannot work. */
export function ladderWarnings(
  { failurePolicy, replicatedJobs }: Pick<DefaultedSpec, 'failurePolicy' | 'replicatedJobs'>,
  annotations: StringMap | undefined,
): readonly string[] {
  const isInPlace = failurePolicy?.restartStrategy === 'InPlaceRestart';
  const has = (key: string): boolean => asked(annotations, key) !== undefined;
  const without = (key: string, what: string): string =>
    `metadata.annotations[${key}] has no effect without ${what}`;
  const warnings: string[] = [];
  if (has(EXTRA_RESTARTS) && failurePolicy === undefined) {
    warnings.push(without(EXTRA_RESTARTS, 'spec.failurePolicy: the first failure is final'));
  }
  if (has(MAX_RESTARTS_WITHOUT_PROGRESS) && !isInPlace) {
    const what = 'restartStrategy InPlaceRestart: no agent would report progress';
    warnings.push(without(MAX_RESTARTS_WITHOUT_PROGRESS, what));
  }
  const key = replaceAfter(annotations) === undefined ? PREFLIGHT : REPLACE_AFTER;
  if (!has(key)) return warnings;
  if (!isInPlace) {
    if (key === PREFLIGHT) return warnings;
    const what = 'restartStrategy InPlaceRestart: other strategies make all Pods anew';
    return [...warnings, without(REPLACE_AFTER, what)];
  }
  const kept = replicatedJobs.filter(({ template }) => !toleratesReplacement(template.spec));
  return [
    ...warnings,
    ...kept.map(
      ({ name }) =>
        `replicatedJob ${name}: ${key} replaces none of its Pods, because backoffLimitPerIndex or podFailurePolicy would count that as a failure; let the first rule of podFailurePolicy have action Ignore onPodConditions DisruptionTarget`,
    ),
  ];
}

/**
 * Whether a Job continues, and makes another Pod, when we delete one of its Pods. The first rule that
 * matches decides, and it may match the exit code of the agent that the deletion ends.
 */
export function toleratesReplacement({
  backoffLimitPerIndex,
  podFailurePolicy,
}: Pick<
  DefaultedSpec['replicatedJobs'][number]['template']['spec'],
  'backoffLimitPerIndex' | 'podFailurePolicy'
>): boolean {
  const toleratesCount = backoffLimitPerIndex === undefined;
  for (const { action, onExitCodes, onPodConditions = [] } of podFailurePolicy?.rules ?? []) {
    const isTolerated = action === 'Ignore' || (action === 'Count' && toleratesCount);
    const isForDisruption = onPodConditions.some(
      ({ type, status = 'True' }) => type === DISRUPTION_TARGET && status === 'True',
    );
    if (isForDisruption) return isTolerated;
    if (!isTolerated && mayMatchEnd(onExitCodes)) return false;
  }
  return toleratesCount;
}

/** Exit codes of containers that are told to end: by SIGTERM, or in the end by SIGKILL. */
export const END_CODES = [143, 137];

function mayMatchEnd(codes: PodFailurePolicyRule['onExitCodes']): boolean {
  if (codes === undefined) return false;
  const isListed = (code: number): boolean => codes.values.includes(code);
  return codes.operator === 'In' ? END_CODES.some(isListed) : !END_CODES.every(isListed);
}

/** `Culprit`: it was the first to fail too often. `Unfit`: its preflight did not pass. */
export type ReplacementCause = (typeof REPLACEMENT_CAUSES)[number];
export const REPLACEMENT_CAUSES = ['Culprit', 'Unfit'] as const;

/** Decimal digits without leading zeros; undefined for anything else. */
function parseCount(text: string, least: number, most: number): number | undefined {
  const count = /^(?:0|[1-9][0-9]{0,6})$/.test(text) ? Number(text) : -1;
  return count >= least && count <= most ? count : undefined;
}
