/** How long each phase of a restart took, from the failure to the first step. */
import type { ReportedRestart } from '../../../../jobset/epoch/restart-request.ts';
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';

export interface Phase {
  readonly label: string;
  /** What passes in it, for a reader who sees it for the first time. */
  readonly meaning: string;
  /** Milliseconds since the restart began to cost time. */
  readonly fromMs: number;
  /** Null: it is not known. */
  readonly tookMs: number | null;
  /** It goes on, so `tookMs` grows; or it comes after one that does. */
  readonly state: 'Over' | 'Open' | 'Later';
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
  release: ['Released', 'until the write that let all workers start'],
  start: ['First step', 'until a member had told of its first step'],
} as const;

/**
 * `isNewest`: no other restart came after it, so what is not known yet may still be going on. A
 * JobSet that is over, or that restarts whole Jobs, has nothing that goes on.
 */
export function waterfallOf(
  { time, epoch, phases = {} }: ReportedRestart,
  segments: readonly TimelineSegment[],
  { isNewest, nowMs }: { readonly isNewest: boolean; readonly nowMs: number },
): Waterfall {
  const endedMs = Date.parse(time);
  const { detectMs, announceMs, releaseMs } = phases;
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
  const parts: readonly (readonly [keyof typeof PHASES, number | undefined, boolean])[] = [
    ['detect', detectMs, false],
    ['announce', announceMs ?? (isGathering ? waitedMs : undefined), isGathering],
    ['release', isReleased ? releaseMs : undefined, false],
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
    const state = isOpen ? 'Open' : isLater ? 'Later' : 'Over';
    isLater ||= isOpen;
    return { label, meaning, fromMs, tookMs: tookMs ?? null, state };
  });
  return { startMs: endedMs - (detectMs ?? 0), totalMs: atMs, phases: drawn };
}
