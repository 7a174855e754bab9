/**
 * `status.restartHistory`, newest first, and the crash-loop delay: how long a group that ends again
 * and again right after its release is held at the barrier
 * (`docs/design/release-hazards.md#a-group-crashes-in-a-loop`).
 */
import { isOff } from '../annotations/table.ts';
import type { JobSet } from '../jobset.ts';
import {
  type JobSetStatus,
  RESTART_HISTORY_LIMIT,
  type RestartPhases,
  type RestartRecord,
} from '../jobset-status.ts';
import { RESTART_BACKOFF } from '../names.ts';
import { asRecorded } from '../overrides/recorded-annotations.ts';
import { epochsOf } from '../status/epochs.ts';

export function recordEnd(
  history: readonly RestartRecord[] | undefined,
  record: RestartRecord,
): readonly RestartRecord[] {
  return [record, ...(history ?? []).map(inBrief)].slice(0, RESTART_HISTORY_LIMIT);
}

/**
 * Only the newest record keeps last words and more than one suspect: every agent gets every status.
 */
function inBrief(record: RestartRecord): RestartRecord {
  const { lastWords: _, suspects = [], ...rest } = record;
  return suspects.length === 0 ? rest : { ...rest, suspects: suspects.slice(0, 1) };
}

/** An epoch that lasts longer than this after its release was no crash at the start. */
export const SHORT_EPOCH_MS = 10_000;
/** The fourth short epoch in a row waits this long, each further one twice as long as the last. */
export const FIRST_BACKOFF_MS = 1000;
export const MAX_BACKOFF_MS = 60_000;
const FREE_RESTARTS = 3;

/**
 * The delay between the end of the newest ended epoch and the next release. It skips epochs that
 * were never released: they say nothing about crashes.
 */
export function crashLoopDelayMs(history: readonly RestartRecord[] | undefined): number {
  const short = shortEpochsInARow(history);
  if (short <= FREE_RESTARTS) return 0;
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (short - FREE_RESTARTS - 1));
}

/** 0 if the JobSet's annotation switches the delay off. */
export function backoffMs(
  { metadata }: JobSet,
  history: readonly RestartRecord[] | undefined,
): number {
  return isOff(RESTART_BACKOFF, metadata.annotations?.[RESTART_BACKOFF])
    ? 0
    : crashLoopDelayMs(history);
}

/**
 * When the delay of a crash loop ends; undefined: there is no delay. It may be over already while
 * members are missing.
 */
export function backoffEndMs(jobSet: JobSet): number | undefined {
  const { status = {}, spec } = jobSet;
  const [newest] = status.restartHistory ?? [];
  const { deprecated, synced } = epochsOf(status);
  const isOver = status.terminalState === 'Completed' || status.terminalState === 'Failed';
  if (newest === undefined || isOver || spec.suspend === true) return undefined;
  if (synced > deprecated || newest.epoch !== deprecated) return undefined;
  const delayMs = backoffMs(asRecorded(jobSet), status.restartHistory);
  const endedMs = Date.parse(newest.time);
  return delayMs === 0 || Number.isNaN(endedMs) ? undefined : endedMs + delayMs;
}

export function shortEpochsInARow(history: readonly RestartRecord[] | undefined): number {
  let short = 0;
  for (const { ranMs } of history ?? []) {
    if (ranMs === undefined) continue;
    if (ranMs > SHORT_EPOCH_MS) break;
    short++;
  }
  return short;
}

/** How long the release took without the delay of a crash loop. */
export function releasingMs({ releaseMs, backoffMs = 0 }: RestartPhases): number | undefined {
  return releaseMs === undefined ? undefined : Math.max(0, releaseMs - backoffMs);
}

/** How long the running epoch has run, or undefined if it was not released. */
export function runningForMs(
  status: JobSetStatus,
  isReleased: boolean,
  nowMs: number,
): number | undefined {
  const since = Date.parse(status.syncedTime ?? '');
  return isReleased && !Number.isNaN(since) ? Math.max(0, nowMs - since) : undefined;
}

/**
 * The history with the phases of its newest restart, which ends with a release at `nowMs`. A crash
 * loop held it back for `delayMs` since the end of the epoch.
 */
export function recordRelease(
  history: readonly RestartRecord[] | undefined,
  lastAnnouncementMs: number | undefined,
  nowMs: number,
  delayMs = 0,
): readonly RestartRecord[] | undefined {
  const [newest, ...older] = history ?? [];
  if (newest === undefined || newest.phases?.announceMs !== undefined) return history;
  const endedMs = Date.parse(newest.time);
  const releasedMs = Math.max(endedMs, nowMs);
  const announcedMs = Math.min(releasedMs, Math.max(endedMs, lastAnnouncementMs ?? releasedMs));
  const heldMs = Math.max(0, Math.min(releasedMs, endedMs + delayMs) - announcedMs);
  const phases = {
    ...newest.phases,
    announceMs: announcedMs - endedMs,
    ...(heldMs > 0 && { backoffMs: heldMs }),
    releaseMs: releasedMs - announcedMs,
  };
  const { suspects = [], ...rest } = newest;
  return [{ ...rest, ...(suspects.length > 0 && { suspects }), phases }, ...older];
}

/** Whether suspects may still be added to the record. */
export function isOpen({ phases }: RestartRecord): boolean {
  return phases?.announceMs === undefined;
}
