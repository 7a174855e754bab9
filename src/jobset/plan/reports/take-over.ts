/** Takes over a group that upstream's controller has run until now. */
import type { JobSetStatus, ReplicatedJobStatus } from '../../jobset-status.ts';
import { epochsFromAttempts } from '../../status/epochs.ts';
import type { Decision } from '../decision.ts';

/** The members of `Facts` that say how far a group has come. */
interface TakenOver {
  readonly status: JobSetStatus;
  readonly counters: readonly ReplicatedJobStatus[];
  /** Absent: failures do not restart it in place. */
  readonly group: object | undefined;
}

/**
 * A group from upstream's controller continues where it is, so that none of its workers has to
 * restart.
 */
export function takeOver({ status, counters, group }: TakenOver): readonly Decision[] {
  const change = group && epochsFromAttempts(status, counters);
  if (change === undefined) return [];
  const note = `continues after epoch ${change.deprecatedEpoch}, as upstream's attempts say`;
  const event = { type: 'Normal', reason: 'TakenOver', note } as const;
  return [{ status: change, events: [event], isLast: true }];
}
