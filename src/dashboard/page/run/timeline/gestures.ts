/** Wheel, drag, pinch and keys on the timeline. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  ALL,
  momentAt,
  moved,
  pinched,
  type Span,
  spanOf,
  type Window,
  windowOn,
  zoomed,
} from './window.ts';

export interface Zoom {
  readonly window: Window;
  readonly life: Span;
  readonly show: (window: Window) => void;
}

/** What a mouse holds between its buttons, as shares of the width. */
export type Brush = readonly [number, number];

const KEY_FACTOR = 0.6;
const KEY_SHARE = 0.2;
/** Pixels of a wheel that halve what is shown. */
const WHEEL_HALF_PX = 240;
/** A drag that is shorter is a click. */
const LEAST_BRUSH_PX = 5;

/** Zooms with keys that are pressed on an element; false: the key means something else. */
export function zoomByKey(key: string, { window, life, show }: Zoom): boolean {
  const { fromMs, toMs } = spanOf(window, life);
  // A reader who looks at the present continues looking at it.
  const anchorMs = window.kind === 'Fixed' ? (fromMs + toMs) / 2 : toMs;
  const next = KEYS.get(key)?.(window, life, anchorMs);
  if (next !== undefined) show(next);
  return next !== undefined;
}

type Change = (window: Window, life: Span, anchorMs: number) => Window;
const zoomingBy =
  (factor: number): Change =>
  (window, life, anchorMs) =>
    zoomed(window, life, factor, anchorMs);
const movingBy =
  (share: number): Change =>
  (window, life) =>
    moved(window, life, share);
const KEYS: ReadonlyMap<string, Change> = new Map([
  ['+', zoomingBy(KEY_FACTOR)],
  ['=', zoomingBy(KEY_FACTOR)],
  ['-', zoomingBy(1 / KEY_FACTOR)],
  ['ArrowLeft', movingBy(-KEY_SHARE)],
  ['ArrowRight', movingBy(KEY_SHARE)],
  ['Home', movingBy(Number.NEGATIVE_INFINITY)],
  ['End', movingBy(Number.POSITIVE_INFINITY)],
  ['0', () => ALL],
]);

/**
 * Follows wheel and pointers on an element. The wheel alone scrolls the page, unless the element has
 * the focus or a modifier is held. Returns what a mouse marks to be shown.
 */
export function useGestures(element: RefObject<HTMLElement | null>, zoom: Zoom): Brush | null {
  const latest = useRef(zoom);
  latest.current = zoom;
  const [brush, draw] = useState<Brush | null>(null);
  useEffect(() => {
    const { current: target } = element;
    if (target === null) return undefined;
    const pointers = new Map<number, number>();
    let held: Brush | null = null;
    let isMoving = false;
    const hold = (value: Brush | null): void => {
      held = value;
      draw(value);
    };
    const share = (event: MouseEvent): number => {
      const { left, width } = target.getBoundingClientRect();
      return width === 0 ? 0 : Math.min(1, Math.max(0, (event.clientX - left) / width));
    };

    const wheel = (event: WheelEvent): void => {
      const { window, life, show } = latest.current;
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const isMeant = event.ctrlKey || event.metaKey || document.activeElement === target;
      if (!isSideways && !isMeant) return;
      event.preventDefault();
      if (isSideways) {
        const byPx = event.deltaX === 0 ? event.deltaY : event.deltaX;
        show(moved(window, life, byPx / Math.max(1, target.clientWidth)));
        return;
      }
      // A pinch on a touch pad comes as a wheel with small steps.
      const strength = event.ctrlKey && Math.abs(event.deltaY) < 50 ? 4 : 1;
      const factor = 2 ** ((event.deltaY * strength) / WHEEL_HALF_PX);
      show(zoomed(window, life, factor, momentAt(spanOf(window, life), share(event))));
    };

    const down = (event: PointerEvent): void => {
      if (event.button !== 0 || pointers.size >= 2) return;
      target.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, share(event));
      isMoving = event.pointerType !== 'mouse' || event.shiftKey;
      hold(isMoving ? null : [share(event), share(event)]);
    };
    const move = (event: PointerEvent): void => {
      const before = pointers.get(event.pointerId);
      if (before === undefined) return;
      const after = share(event);
      if (held !== null) {
        hold([held[0], after]);
        return;
      }
      const { window, life, show } = latest.current;
      const others = [...pointers].filter(([id]) => id !== event.pointerId);
      const other = others[0]?.[1];
      pointers.set(event.pointerId, after);
      if (other !== undefined) {
        show(windowOn(pinched(spanOf(window, life), [other, before], [other, after]), life));
      } else if (isMoving) show(moved(window, life, before - after));
    };
    const up = (event: PointerEvent): void => {
      pointers.delete(event.pointerId);
      if (held === null) return;
      const [from, to] = [Math.min(...held), Math.max(...held)];
      hold(null);
      if ((to - from) * target.clientWidth < LEAST_BRUSH_PX) return;
      const { window, life, show } = latest.current;
      const span = spanOf(window, life);
      show(windowOn({ fromMs: momentAt(span, from), toMs: momentAt(span, to) }, life));
    };
    const cancel = (event: PointerEvent): void => {
      pointers.delete(event.pointerId);
      hold(null);
    };
    const handlers = [
      ['pointerdown', down],
      ['pointermove', move],
      ['pointerup', up],
      ['pointercancel', cancel],
    ] as const;
    for (const [name, handle] of handlers) target.addEventListener(name, handle);
    // A handler that is passive could not keep the page from scrolling.
    target.addEventListener('wheel', wheel, { passive: false });
    return () => {
      for (const [name, handle] of handlers) target.removeEventListener(name, handle);
      target.removeEventListener('wheel', wheel);
    };
  }, []);
  return brush;
}
