/** How long ago something was. It follows the clock. */
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { every, now } from '../adapters/browser.ts';
import { ageText, dateText } from './time-text.ts';

/** The moment of a trace that is looked at, in Unix milliseconds; null: the page is live. */
export const PlayedAt = createContext<number | null>(null);

export interface AgeProps {
  readonly sinceMs: number;
  /** When it stopped to grow; null: it grows. */
  readonly untilMs?: number | null;
}

export function Age({ sinceMs, untilMs: endMs = null }: AgeProps) {
  const playedMs = useContext(PlayedAt);
  const untilMs = endMs ?? playedMs;
  const [text, show] = useState('');
  useEffect(() => {
    const tick = (): void => show(ageText(sinceMs, untilMs ?? now()));
    tick();
    return untilMs === null ? onTick(tick) : undefined;
  }, [sinceMs, untilMs]);
  const at = Number.isFinite(sinceMs) ? new Date(sinceMs).toISOString() : undefined;
  return (
    <time datetime={at} title={dateText(sinceMs)}>
      {text || ageText(sinceMs, untilMs ?? now())}
    </time>
  );
}

const TICK_MS = 1000;

const ticking = new Set<() => void>();
let stop: (() => void) | undefined;

/** One timer for all that follows the clock. */
export function onTick(callback: () => void): () => void {
  ticking.add(callback);
  stop ??= every(TICK_MS, () => {
    for (const tick of ticking) tick();
  });
  return () => {
    ticking.delete(callback);
    if (ticking.size > 0) return;
    stop?.();
    stop = undefined;
  };
}
