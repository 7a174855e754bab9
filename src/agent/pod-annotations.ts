/**
 * The annotations that an agent writes on its Pod, in its dialect
 * (`docs/design/upstream.md#translation`). In upstream's dialect there is only one: the admission
 * policy that upstream gives its users refuses every other change of a Pod by its agent.
 */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { AGENT_STARTS, EPOCH, IN_PLACE_RESTART_ATTEMPT, NOTICE } from '../jobset/names.ts';
import { type Announcement, causeIn } from '../jobset/worker-end/announcement.ts';
import { formatNotice } from '../jobset/worker-end/notice.ts';
import { shifted } from '../jobset/worker-end/worker-end.ts';

/** `Canonical` counts epochs, `Upstream` attempts. */
export type Dialect = 'Canonical' | 'Upstream';

/** The annotation that carries the announced epoch. */
export function epochKey(dialect: Dialect): string {
  return dialect === 'Canonical' ? EPOCH : IN_PLACE_RESTART_ATTEMPT;
}

/** The text under `epochKey`: an attempt is an epoch - 1. */
export function epochText(dialect: Dialect, epoch: number): string {
  return String(dialect === 'Canonical' ? epoch : epoch - 1);
}

/** All annotations that an announcement writes now (monotonic), including `epochKey`. */
export function announcementAnnotations(
  dialect: Dialect,
  announcement: Announcement,
  nowMs: number,
): StringMap {
  const { epoch, starts } = announcement;
  const announced = { [epochKey(dialect)]: epochText(dialect, epoch) };
  if (dialect === 'Upstream') return announced;
  const cause = causeIn(announcement);
  return {
    ...announced,
    [AGENT_STARTS]: `${epoch}:${starts}`,
    ...(cause === undefined
      ? {}
      : { [NOTICE]: formatNotice({ epoch: cause.epoch, end: shifted(cause, -nowMs) }) }),
  };
}
