/** What the view of a run follows: the clock, the width of an element, the theme. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { now } from '../adapters/browser.ts';
import { onTick } from '../elements/age.ts';

/** Unix milliseconds, once a second; `fixedMs` stops the clock. */
export function useNow(fixedMs: number | null): number {
  const [ms, show] = useState(now);
  useEffect(() => {
    if (fixedMs !== null) return undefined;
    show(now());
    return onTick(() => show(now()));
  }, [fixedMs !== null]);
  return fixedMs ?? ms;
}

/** Pixels; 0 before it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, show] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const measure = (): void => show(Math.floor(current.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** Another number after each change of the theme: what was drawn with its colours is drawn anew. */
export function useThemeVersion(): number {
  const [version, change] = useState(0);
  useEffect(() => {
    const next = (): void => change((before) => before + 1);
    const preferred = matchMedia('(prefers-color-scheme: dark)');
    preferred.addEventListener('change', next);
    const chosen = new MutationObserver(next);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      preferred.removeEventListener('change', next);
      chosen.disconnect();
    };
  }, []);
  return version;
}

/** Reads colours of the theme. */
export function colorsOf(element: HTMLElement): (property: string) => string {
  const style = getComputedStyle(element);
  return (property) => style.getPropertyValue(property).trim();
}
