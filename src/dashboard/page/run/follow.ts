/** What the view of a run follows: the clock, the width of an element, the theme. */
import type { RefObject } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { after, now } from '../adapters/browser.ts';
import { onTick, PlayedAt } from '../elements/age.tsx';
import { addressOf, type Route } from '../route.ts';
import type { RunLook } from './look.ts';

/** A zoom is one step in the history once it rests for this time: a wheel turns a hundred times. */
const ZOOM_RESTS_MS = 500;

/**
 * What is looked at, and what changes it. Each choice is a step in the history of the browser; going
 * back and forward gives another `look` of the address.
 */
export function useLook(
  at: Pick<Extract<Route, { view: 'Run' }>, 'namespace' | 'name' | 'tab'>,
  fromAddress: RunLook,
): readonly [RunLook, (change: Partial<RunLook>) => void] {
  const [look, show] = useState(fromAddress);
  const latest = useRef(look);
  const cancel = useRef((): void => undefined);
  useEffect(() => {
    cancel.current();
    latest.current = fromAddress;
    show(fromAddress);
    return () => cancel.current();
  }, [fromAddress]);
  const change = (part: Partial<RunLook>): void => {
    const next = { ...latest.current, ...part };
    latest.current = next;
    show(next);
    cancel.current();
    const write = (): void => {
      const address = addressOf({ view: 'Run', ...at, look: next });
      if (address !== location.hash) history.pushState(null, '', address);
    };
    if (Object.keys(part).join() === 'window') cancel.current = after(ZOOM_RESTS_MS, write);
    else write();
  };
  return [look, change];
}

/** Unix milliseconds, once a second; `stoppedMs` stops the clock, and so does a trace. */
export function useNow(stoppedMs: number | null): number {
  const playedMs = useContext(PlayedAt);
  const fixedMs = playedMs ?? stoppedMs;
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

/** Another number after each change of the theme: what has its colours is drawn again. */
export function useThemeVersion(): number {
  const [version, change] = useState(0);
  useEffect(() => {
    const next = (): void => change((before) => before + 1);
    const preferred = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) =>
      matchMedia(query),
    );
    for (const each of preferred) each.addEventListener('change', next);
    const chosen = new MutationObserver(next);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      for (const each of preferred) each.removeEventListener('change', next);
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
