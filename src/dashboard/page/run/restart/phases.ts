/** How long each phase of a restart took, from the failure to the first step. */
import { releasingMs } from '../../../../jobset/epoch/restart-history.ts';
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';
import type { ReportedRestart } from '../../../../jobset/view/reported-restarts.ts';

export interface Phase {
  readonly key: keyof typeof PHASES;
  readonly label: string;
  /** What passes in it, for a reader who sees it for the first time. */
  readonly meaning: string;
  /** Milliseconds since the restart began to cost time. */
  readonly fromMs: number;
  /** Null: it is not known. */
  readonly tookMs: number | null;
  /** How long it will continue for; null: that is not known, or it does not. */
  readonly leftMs: number | null;
  /** It continues, so `tookMs` grows; or it comes after one that does; or it did not happen. */
  readonly state: 'Over' | 'Open' | 'Later' | 'Never';
}

export interface Waterfall {
  /** When the first known phase began; Unix milliseconds. */
  readonly startMs: number;
  readonly totalMs: number;
  /** In order. A phase that is not known takes no room. */
  readonly phases: readonly Phase[];
}

const PHASES = {
  detect: ['Noticed', 'from the end of the worker to the write that ended the epoch'],
  announce: ['All at the barrier', 'until the last member had announced the new epoch'],
  backoff: ['Back-off', 'until the wait was over that a crash loop makes longer each time'],
  release: ['Released', 'until the write that let all workers start'],
  start: ['First step', 'until a member had told of its first step'],
} as const;

interface WaterfallAt {
  readonly isNewest: boolean;
  /** The JobSet failed with it, so nobody gathered any more. */
  readonly isFinal: boolean;
  readonly nowMs: number;
  /** When the wait of a crash loop is over; null: there is none. All members have announced. */
  readonly backoffEndMs: number | null;
}

type Part = readonly [phase: keyof typeof PHASES, tookMs: number | undefined, isOpen: boolean];

/**
 * `isNewest`: no other restart came after it, so what is not known yet may still last. A JobSet that
 * is over, or that restarts whole Jobs, has nothing that continues.
 */
export function waterfallOf(
  { time, epoch, phases = {} }: ReportedRestart,
  segments: readonly TimelineSegment[],
  { isNewest, isFinal, nowMs, backoffEndMs }: WaterfallAt,
): Waterfall {
  const endedMs = Date.parse(time);
  const { detectMs, announceMs, backoffMs, releaseMs } = phases;
  const isReleased = announceMs !== undefined && releaseMs !== undefined;
  const releasedMs = endedMs + (announceMs ?? 0) + (releaseMs ?? 0);
  const isGathering = isNewest && !isReleased && segments.at(-1)?.class === 'Restarting';
  const starting = segments.find(
    (segment) =>
      segment.class === 'Starting' && segment.epoch === epoch + 1 && segment.isSummary !== true,
  );
  const isStarting =
    isNewest && isReleased && starting !== undefined && segments.at(-1) === starting;
  const waitedMs = Math.max(0, nowMs - endedMs);
  const isHeldBack = isGathering && backoffEndMs !== null && nowMs < backoffEndMs;
  const gathers = isGathering && !isHeldBack;
  const held: Part = ['backoff', isHeldBack ? waitedMs : backoffMs, isHeldBack];
  const parts: readonly Part[] = [
    ['detect', detectMs, false],
    ['announce', announceMs ?? (gathers ? waitedMs : undefined), gathers],
    ...(held[1] === undefined ? [] : [held]),
    ['release', isReleased ? releasingMs(phases) : undefined, false],
    [
      'start',
      starting === undefined || !isReleased
        ? undefined
        : Math.max(0, starting.toMs - Math.max(starting.fromMs, releasedMs)),
      isStarting,
    ],
  ];
  let atMs = 0;
  let isLater = false;
  const drawn = parts.map(([key, tookMs, isOpen]): Phase => {
    const [label, meaning] = PHASES[key];
    const fromMs = atMs;
    atMs += tookMs ?? 0;
    const isNever = isFinal && key !== 'detect' && tookMs === undefined;
    const state = isOpen ? 'Open' : isLater ? 'Later' : isNever ? 'Never' : 'Over';
    isLater ||= isOpen;
    const leftMs = isOpen && key === 'backoff' ? (backoffEndMs ?? nowMs) - nowMs : null;
    return { key, label, meaning, fromMs, tookMs: tookMs ?? null, leftMs, state };
  });
  return { startMs: endedMs - (detectMs ?? 0), totalMs: atMs, phases: drawn };
}
