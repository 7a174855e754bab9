/** Whether what a change of a live JobSet led to is as it should be. */
import type { ApiStatusError } from '@lockstep/kube/status.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { restartsInPlace } from '../../jobset/policies/restart-strategy.ts';
import { laterJobsWarnings } from '../../jobset/validation/later-jobs.ts';
import { differences, type FinalState } from './final-state.ts';
import type { Phase } from './live-group.ts';

/** The condition of a group that is taken out of restarts in place. */
const BYPASSED = 'InPlaceRestartBypassed';
const JOBS_POINTER = '/spec/replicatedJobs';

/** Whether the user was warned that existing Jobs do not follow the change. */
function isWarnedOf(before: JobSet, after: JobSet): boolean {
  // A finished JobSet makes no later Jobs, so there is nothing to warn of.
  const running = { ...before, status: { restarts: 0 } };
  return laterJobsWarnings(running, after).length > 0;
}

/** How a changed group differs from a new one, without what warnings, conditions or the documentation say. */
export function unexplained(
  phase: Phase,
  [before, after]: readonly [JobSet, JobSet],
  [expected, found]: readonly [FinalState, FinalState],
): readonly string[] {
  if (areBothRefused(expected, found)) return [];
  const isOut =
    restartsInPlace(before.spec, before.metadata.annotations) &&
    !restartsInPlace(after.spec, after.metadata.annotations);
  if (!isOut) {
    return isWarnedOf(before, after)
      ? differences(withoutTemplates(expected), withoutTemplates(found))
      : differences(expected, found);
  }
  const isSaid = phase === 'Finished' || hasCondition(found, BYPASSED);
  return [
    ...(isSaid ? [] : [`the condition ${BYPASSED} is not True`]),
    ...differences(withoutTemplates(expected, isOfBypass), withoutTemplates(found, isOfBypass)),
  ];
}

/** What has to be the same although existing Jobs and Pods do not follow: which there are, and how they are. */
function withoutTemplates(state: FinalState, isLeftOut = (_text: string) => false): FinalState {
  const text = JSON.stringify(state, (key, value: unknown) => {
    if (key === 'metadata' || key === 'spec' || isLeftOut(key)) return undefined;
    return Array.isArray(value) ? value.filter((each) => !isLeftOut(`${each}`)) : value;
  });
  return { ...(JSON.parse(text) as FinalState), others: state.others };
}

/**
 * A group that is taken out keeps the agents in its Pods, and so the record of their mode:
 * `docs/reference/in-place-restart.md`.
 */
function isOfBypass(text: string): boolean {
  return text === 'restartMode' || text.startsWith(`${BYPASSED} `);
}

/**
 * Whether no worker runs, because the API server takes neither a new Job of that spec nor a changed one,
 * and conditions say so. Then a new group lacks that Job, and an old one keeps its Jobs, suspended.
 */
function areBothRefused(...states: readonly FinalState[]): boolean {
  return states.every((state) => state.running.length === 0 && hasCondition(state, 'JobsRefused'));
}

function hasCondition({ jobSet }: FinalState, type: string): boolean {
  const conditions = jobSet?.['conditions'];
  return Array.isArray(conditions) && conditions.some((each) => `${each}`.startsWith(`${type} `));
}

/**
 * Whether a refusal leads its reader to the field at this pointer: one of its causes is about the field,
 * what it is in, or what is in it, or its words name the field. All of `spec` or of `spec.replicatedJobs`
 * is too much to look through.
 */
export function isNamed(path: string, { message, status }: ApiStatusError): boolean {
  const field = withSlashes(path.replace(/\/-$/, ''));
  const isAbout = (pointer: string): boolean =>
    pointer !== '' &&
    pointer !== '/spec' &&
    (`${field}/`.startsWith(`${pointer}/`) || `${pointer}/`.startsWith(`${field}/`));
  const isInJob = field.split('/').length > 4;
  const causes = (status.details?.causes ?? []).map((cause) => pointerOf(cause.field ?? ''));
  if (causes.some((cause) => isAbout(cause) && !(isInJob && cause === JOBS_POINTER))) return true;
  const listed = [...message.matchAll(/"(\/[^"]*)"/g)];
  if (listed.some(([, pointer = '']) => isAbout(withSlashes(JOBS_POINTER + pointer)))) return true;
  const name = field.split('/').findLast((part) => !/^\d+$/.test(part)) ?? field;
  const words = message.toLowerCase().split(/[^a-z0-9-]+/);
  return [name, `${name}s`].some((each) => words.includes(each.toLowerCase()));
}

/** `spec.replicatedJobs[0].name` and `metadata.annotations[lockstep/x]` as pointers. */
function pointerOf(field: string): string {
  return withSlashes(`/${field.replaceAll(/\[([^\]]*)\]/g, '.$1')}`);
}

/** Keys of labels and annotations have dots and slashes in them, so that both count as one. */
function withSlashes(pointer: string): string {
  return pointer.replaceAll('~1', '/').replaceAll('.', '/');
}
