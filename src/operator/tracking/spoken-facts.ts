/**
 * What agents say over the hub, beside what the annotations of their Pods say: the newest of both
 * counts.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Announcement } from '../../jobset/hub/message.ts';
import type { AgentStarts, PodFacts } from '../../jobset/roster/pod-facts.ts';
import type { Notice } from '../../jobset/worker-end/notice.ts';
import type { EndedWorker } from '../../jobset/worker-end/worker-evidence.ts';

/** What the agent of a Pod has said over the hub: the same facts as the Pod's annotations. */
export interface SpokenFacts {
  readonly epoch?: number;
  readonly starts?: AgentStarts;
  readonly notice?: Notice;
}

export function spokenFacts({ epoch, starts, cause, ended }: Announcement): SpokenFacts {
  const notice = cause === undefined ? undefined : { ...cause, ...hangIn(ended) };
  return { epoch, starts: { epoch, starts }, ...defined({ notice }) };
}

/** People are shown how a worker hung: the signal that ended it does not tell. */
function hangIn(ended: EndedWorker | undefined): Pick<Notice, 'ended'> {
  if (ended?.evidence.how !== 'Hung') return {};
  const { how, silentMs, step } = ended.evidence;
  return { ended: { evidence: { how, ...defined({ silentMs, step }) }, atMs: ended.atMs } };
}

/** A Pod's annotations, and its agent's words if those are no older. */
export function newestFacts(written: PodFacts, spoken: SpokenFacts | undefined): PodFacts {
  if (spoken === undefined) return written;
  const { starts, notice } = spoken;
  const epoch = Math.max(spoken.epoch ?? 0, written.epoch ?? 0);
  const isNewNotice = notice !== undefined && notice.epoch >= (written.notice?.epoch ?? 0);
  return {
    ...written,
    epoch: epoch === 0 ? undefined : epoch,
    starts: starts?.epoch === epoch ? starts : written.starts,
    notice: isNewNotice ? notice : written.notice,
  };
}
