/**
 * The opt-in deadline for lost nodes: a Pod that should have ended this long ago is deleted by
 * force, because its agent has stopped its worker by then. An agent lets its worker run only for a
 * lease, counted from the last proof that its Pod exists and is not being deleted. That proof was
 * given before the deletion, so the lease ends before the deadline
 * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`).
 */
import { parseDuration } from '@lockstep/kube/duration.ts';
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { asked } from '../annotations/table.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { LOST_NODE_DEADLINE, STOP_GRACE } from '../names.ts';
import { parseStopGraceSeconds } from './agent-settings.ts';

/**
 * How much earlier than the operator an agent acts. It covers the difference between the clocks of
 * API server and operator, and the delays of an agent and its node: it checks the clock every few
 * seconds, and a node may take 4 s to end all containers of a Pod.
 */
export const LOST_NODE_MARGIN_MS = 20_000;
/** With a shorter deadline, after the grace period, an agent could ask only once or twice. */
export const MIN_LOST_NODE_DEADLINE_MS = 60_000;
/** For longer waits a person can decide. */
export const MAX_LOST_NODE_DEADLINE_MS = 86_400_000;
/** A shorter lease would end with one unanswered question. */
export const MIN_LEASE_MS = 30_000;
/** Kubernetes' default for Pods. */
const DEFAULT_GRACE_SECONDS = 30;

/** Milliseconds; undefined for an invalid duration, or one out of bounds. */
export function parseLostNodeDeadline(text: string): number | undefined {
  const ms = parseDuration(text);
  const isAllowed =
    ms !== undefined && ms >= MIN_LOST_NODE_DEADLINE_MS && ms <= MAX_LOST_NODE_DEADLINE_MS;
  return isAllowed ? ms : undefined;
}

/**
 * How long a worker may run after the last proof that its Pod is alive. The agent tells it to stop
 * `stopGraceMs` before the worker has to be gone.
 */
export function leaseMs(deadlineMs: number, stopGraceMs: number): number {
  return deadlineMs - LOST_NODE_MARGIN_MS - stopGraceMs;
}

/**
 * The least deadline for a Pod. No agent renews its lease while its worker ends, and agents ask four
 * times in each lease, so twice the grace period is enough. It must also leave a lease beside the
 * time that a supervisor gives its worker to stop.
 */
export function lostNodeDeadlineErrors(
  { replicatedJobs }: Pick<DefaultedSpec, 'replicatedJobs'>,
  annotations: StringMap | undefined,
): readonly FieldError[] {
  const text = asked(annotations, LOST_NODE_DEADLINE);
  if (text === undefined) return [];
  const graceSeconds = Math.max(
    0,
    ...replicatedJobs.map(
      ({ template }) =>
        template.spec.template.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    ),
  );
  const deadlineMs = parseLostNodeDeadline(text);
  const leastByPodsMs = MIN_LOST_NODE_DEADLINE_MS + 2 * graceSeconds * 1000;
  const stopGrace = annotations?.[STOP_GRACE] ?? '';
  const stopGraceMs = 1000 * (parseStopGraceSeconds(stopGrace) ?? 0);
  const leastMs = Math.max(leastByPodsMs, LOST_NODE_MARGIN_MS + stopGraceMs + MIN_LEASE_MS);
  if (deadlineMs !== undefined && deadlineMs >= leastMs) return [];
  const why =
    leastMs === leastByPodsMs
      ? `a minute more than twice the longest terminationGracePeriodSeconds, ${graceSeconds}`
      : `${(leastMs - stopGraceMs) / 1000}s more than ${STOP_GRACE}, ${stopGrace}`;
  const detail = `expected Off, or a duration such as "5m", from ${leastMs / 1000}s (${why}) to 24h`;
  return [invalidValue(`metadata.annotations[${LOST_NODE_DEADLINE}]`, text, detail)];
}
