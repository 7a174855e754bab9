/** What the agent of a Pod has said over the hub: the same facts as the annotations of the Pod. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { type Announcement, causeIn } from '../worker-end/announcement.ts';
import type { Notice } from '../worker-end/notice.ts';
import { withoutWords } from '../worker-end/worker-end.ts';
import type { AgentStarts, PodFacts } from './pod-facts.ts';

export interface Said {
  readonly epoch?: number;
  readonly starts?: AgentStarts;
  readonly notice?: Notice;
}

export function saidIn(announcement: Announcement): Said {
  const { epoch, starts } = announcement;
  const end = causeIn(announcement);
  // The ends of the group keep the last words.
  const notice = end && { epoch: end.epoch, end: withoutWords(end) };
  return { epoch, starts: { epoch, starts }, ...defined({ notice }) };
}

/** A notice of an earlier epoch replaces none of a later one. */
export function saidLast(before: Said | undefined, now: Said): Said {
  const isOldNotice = (now.notice?.epoch ?? 0) < (before?.notice?.epoch ?? 0);
  return { ...before, ...now, ...(isOldNotice ? defined({ notice: before?.notice }) : {}) };
}

/** The annotations of a Pod, and the words of its agent if those are no older. */
export function newestFacts(written: PodFacts, said: Said | undefined): PodFacts {
  if (said === undefined) return written;
  const { starts, notice } = said;
  const epoch = Math.max(said.epoch ?? 0, written.epoch ?? 0);
  const isNewNotice = notice !== undefined && notice.epoch >= (written.notice?.epoch ?? 0);
  return {
    ...written,
    epoch: epoch === 0 ? undefined : epoch,
    starts: starts?.epoch === epoch ? starts : written.starts,
    notice: isNewNotice ? notice : written.notice,
  };
}
