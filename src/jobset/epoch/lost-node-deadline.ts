/**
 * The opt-in deadline of nodes that are lost
 * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`): a Pod that was to have
 * ended so long ago is deleted by force, because its agent has stopped its worker by then. An agent
 * may let its worker run for a lease only, counted from the last proof that its Pod is there and
 * not being deleted; what proves that was true before the deletion, so the lease ends before the
 * deadline does.
 */
import { parseDuration } from '../../kube/duration.ts';
import { invalidValue } from '../../kube/field-error.ts';
import type { StringMap } from '../../kube/meta.ts';
import type { FieldError } from '../../kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { LOST_NODE_DEADLINE } from '../names.ts';

/**
 * What an agent is ahead of the operator. It has to cover how far the clocks of API server and operator
 * may differ, and how late an agent and its node may be: a look at the clock every few seconds, and a
 * node that takes 4 s to end all containers of a Pod.
 */
export const LOST_NODE_MARGIN_MS = 20_000;
/** Less, beside the grace period, leaves an agent no time to ask more than once or twice. */
export const MIN_LOST_NODE_DEADLINE_MS = 60_000;
/** Whoever wants to wait for longer waits for people anyway. */
export const MAX_LOST_NODE_DEADLINE_MS = 86_400_000;
/** What a Pod has that does not say. */
const DEFAULT_GRACE_SECONDS = 30;

/** Milliseconds; undefined for what is no duration within the bounds. */
export function parseLostNodeDeadline(text: string): number | undefined {
  const ms = parseDuration(text);
  const isAllowed =
    ms !== undefined && ms >= MIN_LOST_NODE_DEADLINE_MS && ms <= MAX_LOST_NODE_DEADLINE_MS;
  return isAllowed ? ms : undefined;
}

/**
 * How long a worker may run on the last word that its Pod is alive; it is told to stop
 * `stopGraceMs` before it has to be gone.
 */
export function leaseMs(deadlineMs: number, stopGraceMs: number): number {
  return deadlineMs - LOST_NODE_MARGIN_MS - stopGraceMs;
}

/**
 * A lease is not renewed while a worker takes its time to end, and agents ask four times in each lease:
 * with twice the grace period there is time enough.
 */
export function lostNodeDeadlineErrors(
  { replicatedJobs }: Pick<DefaultedSpec, 'replicatedJobs'>,
  annotations: StringMap | undefined,
): readonly FieldError[] {
  const text = annotations?.[LOST_NODE_DEADLINE];
  if (text === undefined) return [];
  const graceSeconds = Math.max(
    0,
    ...replicatedJobs.map(
      ({ template }) =>
        template.spec.template.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    ),
  );
  const deadlineMs = parseLostNodeDeadline(text);
  const leastMs = MIN_LOST_NODE_DEADLINE_MS + 2 * graceSeconds * 1000;
  if (deadlineMs !== undefined && deadlineMs >= leastMs) return [];
  const detail = `expected a duration such as "5m", from ${leastMs / 1000}s (a minute more than twice the longest terminationGracePeriodSeconds, ${graceSeconds}) to 24h`;
  return [invalidValue(`metadata.annotations[${LOST_NODE_DEADLINE}]`, text, detail)];
}
