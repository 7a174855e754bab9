/** How long the Pods of a failed JobSet stay, as `lockstep/keep-failed` says. */
import { parseDuration } from '@lockstep/kube/duration.ts';
import { forbiddenField, invalidValue } from '@lockstep/kube/field-error.ts';
import type { ObjectMeta, StringMap } from '@lockstep/kube/meta.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { asked } from '../annotations/table.ts';
import type { DefaultedSpec } from '../defaults.ts';
import type { JobSet } from '../jobset.ts';
import { KEEP_FAILED, KUEUE_QUEUE_NAME } from '../names.ts';

const MAX_KEEP_FAILED_MS = 30 * 24 * 60 * 60_000;

/** Until when the Pods of a failed JobSet stay; undefined: it has not failed, or asks for nothing. */
export function keptUntilMs({
  metadata,
  spec,
  status,
}: Pick<JobSet, 'metadata' | 'status'> & {
  readonly spec: Pick<JobSet['spec'], 'suspend'>;
}): number | undefined {
  const failed = status?.conditions?.find(
    ({ type, status: is }) => type === 'Failed' && is === 'True',
  );
  const failedMs = Date.parse(failed?.lastTransitionTime ?? '');
  const keepMs = keepFailedMs(metadata);
  if (spec.suspend === true || keepMs === 0 || Number.isNaN(failedMs)) return undefined;
  return failedMs + keepMs;
}

/** 0 without the annotation, and where it is refused. */
export function keepFailedMs(metadata: ObjectMeta): number {
  const text = asked(metadata.annotations, KEEP_FAILED) ?? '';
  return keepFailedErrors(metadata).length > 0 ? 0 : (parseKeepFailed(text) ?? 0);
}

/** Kueue counts a failed JobSet as over. It would give away resources that Pods still use. */
export function keepFailedErrors({ annotations, labels }: ObjectMeta): readonly FieldError[] {
  const text = asked(annotations, KEEP_FAILED);
  if (text === undefined) return [];
  const field = `metadata.annotations[${KEEP_FAILED}]`;
  const ms = parseKeepFailed(text);
  if (ms === undefined) {
    return [invalidValue(field, text, 'expected Off, or a duration such as "1h", from 0s to 720h')];
  }
  const queue = labels?.[KUEUE_QUEUE_NAME] ?? annotations?.[KUEUE_QUEUE_NAME];
  if (ms === 0 || queue === undefined) return [];
  const detail = `${text} keeps the Pods of a failed JobSet, but Kueue gives its quota of queue ${JSON.stringify(queue)} (${KUEUE_QUEUE_NAME}) to others as soon as it fails; expected 0s`;
  return [forbiddenField(field, detail)];
}

/** Only agents can stop workers without their Pods. */
export function keepFailedWarnings(
  { failurePolicy }: Pick<DefaultedSpec, 'failurePolicy'>,
  annotations: StringMap | undefined,
): readonly string[] {
  const isInPlace = failurePolicy?.restartStrategy === 'InPlaceRestart';
  if (isInPlace || asked(annotations, KEEP_FAILED) === undefined) return [];
  return [
    `metadata.annotations[${KEEP_FAILED}] has no effect without restartStrategy InPlaceRestart: no agent could stop the workers of Pods that stay`,
  ];
}

function parseKeepFailed(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= 0 && ms <= MAX_KEEP_FAILED_MS ? ms : undefined;
}
