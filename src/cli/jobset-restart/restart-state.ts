/** What the status of a JobSet says about a restart that a user asks for. */

import { groupSize } from '../../jobset/epoch/group-state.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { isManagedByUs } from '../../jobset/manager.ts';
import { DISABLE_IN_PLACE_RESTART } from '../../jobset/names.ts';
import { asRecorded } from '../../jobset/overrides/recorded-annotations.ts';
import { isTrue } from '../../jobset/status/conditions.ts';
import { epochsOf } from '../../jobset/status/epochs.ts';
import { reportedRestarts } from '../../jobset/view/reported-restarts.ts';

/** The epoch that can be ended, or why none can. */
export function restartableEpoch(
  jobSet: JobSet,
): { readonly epoch: number } | { readonly problem: string } {
  const { metadata, spec, status } = asRecorded(jobSet);
  const { deprecated, synced } = epochsOf(status);
  const strategy = spec.failurePolicy?.restartStrategy ?? 'Recreate';
  const over = whyNoneFollows(jobSet);
  if (over !== undefined) return { problem: over };
  if (!isManagedByUs(spec)) return { problem: `the JobSet is managed by ${spec.managedBy}` };
  if (strategy !== 'InPlaceRestart') {
    return {
      problem: `its restart strategy is ${strategy}; only InPlaceRestart restarts in place`,
    };
  }
  if (metadata.annotations?.[DISABLE_IN_PLACE_RESTART] !== undefined) {
    return { problem: `it was taken out of in-place restart (${DISABLE_IN_PLACE_RESTART})` };
  }
  if (synced <= deprecated) {
    const epoch = deprecated + 1;
    return { problem: `epoch ${epoch} is not released: its workers do not run yet` };
  }
  return { epoch: deprecated + 1 };
}

/** Why no epoch is released any more; undefined: one may be. */
function whyNoneFollows({ spec, status }: JobSet): string | undefined {
  if (status?.terminalState === 'Completed') return 'the JobSet has completed';
  if (status?.terminalState === 'Failed') return 'the JobSet has failed';
  return spec.suspend === true || isTrue(status?.conditions, 'Suspended')
    ? 'the JobSet is suspended'
    : undefined;
}

/** What has become of the end of an epoch that the user asked for. */
export type RestartState =
  | { readonly kind: 'Waiting'; readonly text: string }
  | { readonly kind: 'Restarted'; readonly text: string }
  /** No epoch follows. */
  | { readonly kind: 'Over'; readonly text: string };

export function restartState(jobSet: JobSet, epoch: number): RestartState {
  const { status } = jobSet;
  const { deprecated, synced } = epochsOf(status);
  const record = reportedRestarts(jobSet).find((one) => one.epoch === epoch);
  const over = whyNoneFollows(jobSet);
  if (over !== undefined) return { kind: 'Over', text: over };
  if (deprecated < epoch) return { kind: 'Waiting', text: `epoch ${epoch} has not ended` };
  const charge = record?.counted === true ? 'counted' : 'not counted';
  const cause = record === undefined ? '' : ` (${record.cause}, ${charge})`;
  const ended = `epoch ${epoch} ended${cause}`;
  if (synced <= deprecated) {
    return { kind: 'Waiting', text: `${ended}, and epoch ${deprecated + 1} is not released` };
  }
  const tookMs = Date.parse(status?.syncedTime ?? '') - Date.parse(record?.time ?? '');
  const after = Number.isNaN(tookMs) ? '' : ` after ${(tookMs / 1000).toFixed(1)} s`;
  const size = groupSize(jobSet);
  const members = size === 1 ? '1 member runs' : `${size} members run`;
  return { kind: 'Restarted', text: `${ended}; ${members} again in epoch ${synced}${after}` };
}
