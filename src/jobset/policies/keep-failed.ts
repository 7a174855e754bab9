/**
 * Keeps the Pods of a failed group, and with them the logs, for as long as
 * `lockstep/keep-failed` says. The write that fails the JobSet ends the current epoch too, so all
 * agents stop their workers and wait at a barrier that never lifts. The annotation may change
 * afterwards, so every plan reads it, and it is remembered nowhere.
 */
import { parseDuration } from '../../kube/duration.ts';
import { forbiddenField, invalidValue } from '../../kube/field-error.ts';
import type { ObjectMeta, StringMap } from '../../kube/meta.ts';
import type { FieldError } from '../../kube/status.ts';
import { asked } from '../annotations/table.ts';
import { stopWhatRuns } from '../child-jobs/tidying.ts';
import type { Decision } from '../decision.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { isReleased } from '../epoch/in-place-restart.ts';
import { type Facts, isOfGroup } from '../facts.ts';
import type { JobSet } from '../jobset.ts';
import type { Next } from '../merge.ts';
import { KEEP_FAILED, KUEUE_QUEUE_NAME } from '../names.ts';
import { isFinished, isTrue } from '../status/conditions.ts';
import { LONGEST_WAIT_MS } from './ttl.ts';

/** 30 days. */
const MAX_KEEP_FAILED_MS = 30 * 24 * 60 * 60_000;

/** The end of the epoch goes with the write that fails the JobSet. */
export function endWithFailure(facts: Facts, { status }: Next): Decision {
  const isFailing = isTrue(status.conditions, 'Failed') && !isFinished(facts.status.conditions);
  if (!isFailing || !isOfGroup(facts) || !keepsFailed(facts)) return {};
  return { status: { deprecatedEpoch: facts.group.epoch } };
}

/** Whether the Jobs of this JobSet would stay if it failed now. */
export function keepsFailed({ jobSet, spec, group }: Facts): boolean {
  return group !== undefined && !spec.suspend && keepFailedMs(jobSet.metadata) > 0;
}

/**
 * Ends the Jobs of a finished JobSet when their time is over. None stays while a worker may run:
 * then the write that failed the JobSet has not ended its epoch, because the annotation came later.
 */
export function stopUnlessKept(facts: Facts): readonly Decision[] {
  const remainingMs = keptForMs(facts);
  return remainingMs > 0
    ? [{ requeueAfterMs: Math.min(remainingMs, LONGEST_WAIT_MS) }]
    : stopWhatRuns(facts);
}

function keptForMs(facts: Facts): number {
  const { group, jobSet, spec, status, nowMs } = facts;
  if (group === undefined || isReleased(group)) return 0;
  const untilMs = keptUntilMs({ metadata: jobSet.metadata, spec, status }) ?? nowMs;
  return Math.min(keepFailedMs(jobSet.metadata), untilMs - nowMs);
}

/** Until when the Pods of a JobSet stay that has failed; undefined: it asks for nothing, or has not. */
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

/** 0, as without the annotation, where it is refused. */
function keepFailedMs(metadata: ObjectMeta): number {
  const text = asked(metadata.annotations, KEEP_FAILED) ?? '';
  return keepFailedErrors(metadata).length > 0 ? 0 : (parseKeepFailed(text) ?? 0);
}

/** Kueue counts a failed JobSet as over, and would give its resources to others while Pods hold them. */
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

/** Only agents can stop workers and leave their Pods. */
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
