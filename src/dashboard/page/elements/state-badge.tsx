/** The state of a JobSet: a word, a shape and a colour. */
import { useContext, useEffect, useState } from 'preact/hooks';
import { type ShownState, type StateKind, stateWords } from '../../../jobset/view/shown-state.ts';
import { now } from '../adapters/browser.ts';
import { onTick, PlayedAt } from './age.tsx';
import { shown as printable } from './shown-text.ts';
import { STATE_WORDS } from './state-words.ts';

/** Paths in a square of 16, so that no state needs its colour. */
const SHAPES: Readonly<Record<StateKind, string>> = {
  Hung: 'M6 5.500a2.2 2.200 0 1 1 2.2 2.600v1.600M8.200 12.400v.2',
  Stuck: 'M8 3v6M8 12v.5',
  BackingOff: 'M4.500 3h7M4.500 13h7M5.500 3c0 5 5 5 5 10M10.500 3c0 5-5 5-5 10',
  Failed: 'M4.5 4.5l7 7m0-7l-7 7',
  AtBarrier: 'M8 2.5v11M3 5.5l2.5 2.5L3 10.5M13 5.5L10.5 8l2.5 2.5',
  Starting: 'M8 2.800a5.2 5.2 0 1 0 0 10.400a5.2 5.2 0 1 0 0-10.4',
  Running: 'M5 3.500l7.5 4.500L5 12.500z',
  Suspended: 'M5.5 4v8M10.5 4v8',
  Completed: 'M3.5 8.500l3 3l6-7',
};

export function StateBadge({ shown }: { readonly shown: ShownState }) {
  const { meaning, tone } = STATE_WORDS[shown.kind];
  const playedMs = useContext(PlayedAt);
  const [atMs, tick] = useState(now);
  const isTimed = playedMs === null && (shown.untilMs !== undefined || shown.silence !== undefined);
  useEffect(() => {
    tick(now());
    return isTimed ? onTick(() => tick(now())) : undefined;
  }, [isTimed]);
  const title = shown.why === undefined ? meaning : printable(shown.why, WHY_LENGTH);
  return (
    <span class={`badge is-${tone}`} title={title}>
      <svg
        width="14"
        height="14"
        viewBox="0 0 16 16"
        fill={shown.kind === 'Running' ? 'currentColor' : 'none'}
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
        stroke-linejoin="round"
        aria-hidden="true"
      >
        <path d={SHAPES[shown.kind]} />
      </svg>
      {printable(stateWords(shown, playedMs ?? atMs), WORDS_LENGTH)}
    </span>
  );
}

/** UTF-16 code units. */
const WORDS_LENGTH = 80;
const WHY_LENGTH = 600;
