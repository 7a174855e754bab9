/** The events around the one that is shown, in words. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { TraceEvent } from '../../messages/trace.ts';
import { shown } from '../elements/shown-text.ts';
import { KIND_WORDS, traceTime } from './steps.ts';

export interface EventsProps {
  readonly events: readonly TraceEvent[];
  /** The events that are listed. */
  readonly indices: readonly number[];
  readonly at: number;
  readonly go: (to: number) => void;
}

/** On each side of the event that is shown. */
const LISTED = 100;

export function Events({ events, indices, at, go }: EventsProps) {
  const list = useRef<HTMLOListElement>(null);
  const after = indices.findIndex((i) => i > at);
  const middle = after < 0 ? indices.length : after;
  const near = indices.slice(Math.max(0, middle - LISTED), middle + LISTED);
  useLayoutEffect(() => {
    const box = list.current;
    const current = box?.querySelector<HTMLElement>('[aria-current]')?.closest('li');
    if (!box || !current) return;
    // The page itself stays where it is.
    box.scrollTop = current.offsetTop - (box.clientHeight - current.offsetHeight) / 2;
  }, [at, indices]);
  return (
    <ol class="player-events" ref={list} aria-label="Events" tabindex={0}>
      {near.map((i) => {
        const { kind, atMs, text } = events[i] as TraceEvent;
        return (
          <li key={i}>
            <button
              type="button"
              class={`player-event is-${KIND_WORDS[kind].toLowerCase()}`}
              aria-current={i === at ? 'step' : undefined}
              tabindex={-1}
              onClick={() => go(i)}
            >
              <span class="player-time">{traceTime(atMs)}</span>
              <span class="player-kind">{KIND_WORDS[kind]}</span>
              <span>{shown(text, 300)}</span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}
