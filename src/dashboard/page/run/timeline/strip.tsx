/** The whole life of a JobSet in a thin strip, with the stretch that is shown above it. */
import { useRef } from 'preact/hooks';
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';
import { barsOf } from './bars.ts';
import type { Zoom } from './gestures.ts';
import { momentAt, shareOf, spanOf, windowOn } from './window.ts';

type Part = 'from' | 'to' | 'both';

export interface StripProps extends Zoom {
  readonly segments: readonly TimelineSegment[];
  readonly restartsMs: readonly number[];
  readonly widthPx: number;
}

/** A pointer moves the stretch or one of its ends. With keys, the timeline itself does that. */
export function Strip({ segments, restartsMs, widthPx, window, life, show }: StripProps) {
  const strip = useRef<HTMLDivElement>(null);
  const grip = useRef<{ readonly part: Part; readonly lastMs: number } | null>(null);
  const whole = spanOf({ kind: 'All' }, life);
  const span = spanOf(window, life);
  const [from, to] = [shareOf(whole, span.fromMs) * 100, shareOf(whole, span.toMs) * 100];

  const momentOf = (event: PointerEvent): number => {
    const { left = 0, width = 1 } = strip.current?.getBoundingClientRect() ?? {};
    return momentAt(whole, Math.min(1, Math.max(0, (event.clientX - left) / width)));
  };
  const take = (event: PointerEvent): void => {
    const { target } = event;
    const named = target instanceof HTMLElement ? target.dataset['part'] : undefined;
    const part: Part = named === 'from' || named === 'to' ? named : 'both';
    const atMs = momentOf(event);
    strip.current?.setPointerCapture(event.pointerId);
    grip.current = { part, lastMs: atMs };
    if (named !== undefined) return;
    const halfMs = (span.toMs - span.fromMs) / 2;
    show(windowOn({ fromMs: atMs - halfMs, toMs: atMs + halfMs }, life));
  };
  const move = (event: PointerEvent): void => {
    if (grip.current === null) return;
    const { part, lastMs } = grip.current;
    const atMs = momentOf(event);
    const byMs = atMs - lastMs;
    grip.current = { part, lastMs: atMs };
    const ends = {
      fromMs: part === 'to' ? span.fromMs : span.fromMs + byMs,
      toMs: part === 'from' ? span.toMs : span.toMs + byMs,
    };
    if (ends.fromMs < ends.toMs) show(windowOn(ends, life));
  };
  const release = (): void => {
    grip.current = null;
  };

  return (
    <div
      class="strip"
      ref={strip}
      aria-hidden="true"
      onPointerDown={take}
      onPointerMove={move}
      onPointerUp={release}
      onPointerCancel={release}
    >
      {barsOf(segments, whole, widthPx).map(({ segment, xPx, widthPx: width }) => (
        <div
          key={`${segment.fromMs} ${segment.class}`}
          class={`strip-bar time time-${segment.class.toLowerCase()}`}
          style={{ left: `${xPx}px`, width: `${width}px` }}
        />
      ))}
      {restartsMs.map((atMs) => (
        <div key={atMs} class="strip-mark" style={{ left: `${shareOf(whole, atMs) * 100}%` }} />
      ))}
      <div
        class="strip-window"
        data-part="both"
        style={{ left: `${from}%`, width: `${to - from}%` }}
      >
        <div class="strip-end" data-part="from" />
        <div class="strip-end" data-part="to" />
      </div>
    </div>
  );
}
