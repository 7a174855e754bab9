/** The log of one member, or of one process of it, live. It follows the newest line until a reader scrolls up. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LogMessage } from '../../../messages/log.ts';
import { logEventsOf } from '../../../messages/paths.ts';
import { shown } from '../../elements/shown-text.ts';
import { useStream } from '../../use-stream.ts';
import { EMPTY_LOG, type LogState, withLogMessage } from './log-lines.ts';

export interface LogProps {
  readonly namespace: string;
  readonly name: string;
  readonly pod: string;
  /** A local rank; null: all of the Pod. */
  readonly process: number | null;
}

/** Pixels from the end that still count as its end. */
const NEAR_END_PX = 24;

export function Log({ namespace, name, pod, process }: LogProps) {
  const { state, trouble } = useStream<LogState, LogMessage>(
    logEventsOf(namespace, name, pod, process),
    EMPTY_LOG,
    withLogMessage,
  );
  const { isComplete, lines, problem, isEnded, whole } = state;
  const [isFollowing, follow] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = box;
    if (current !== null && isFollowing) current.scrollTop = current.scrollHeight;
  }, [lines, isFollowing]);
  const scroll = (): void => {
    const { current } = box;
    if (current === null) return;
    const leftPx = current.scrollHeight - current.scrollTop - current.clientHeight;
    follow(leftPx <= NEAR_END_PX);
  };
  const isOneOfMany = process !== null && whole === null;
  const nothing = isOneOfMany
    ? 'None of the last lines of its Pod is its own.'
    : 'It has written nothing.';
  const why = trouble ?? problem;
  const told = why !== null ? shown(why) : isEnded ? 'It has ended.' : '';
  return (
    <div class="log">
      <div class="log-head">
        <h4>Log</h4>
        <span class="quiet" role="status">
          {told || (isFollowing ? 'live' : 'paused')}
        </span>
        <span class="quiet">times in UTC</span>
        {!isFollowing && (
          <button type="button" class="button" onClick={() => follow(true)}>
            Follow the newest line
          </button>
        )}
      </div>
      {whole !== null && <p class="quiet">The log of the whole Pod: {shown(whole)}.</p>}
      <div
        class="log-lines mono"
        ref={box}
        tabindex={0}
        role="region"
        aria-label="Lines of the log"
        onScroll={scroll}
      >
        {lines.map(({ number, time, text }) => (
          <div key={number} class="log-line">
            <span class="log-time">{time}</span>
            <span class="log-text">{text}</span>
          </div>
        ))}
        {lines.length === 0 && (
          <p class="quiet">{isComplete ? nothing : 'Waiting for its lines.'}</p>
        )}
      </div>
    </div>
  );
}
