/** The state of a JobSet: a word, a shape and a colour. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { JobSetState } from '../../../jobset/view/jobset-state.ts';
import { STATE_WORDS } from './state-words.ts';

/** Paths in a square of 16, so that no state needs its colour. */
const SHAPES: Readonly<Record<JobSetState, string>> = {
  Failed: 'M4.5 4.5l7 7m0-7l-7 7',
  AtBarrier: 'M8 2.5v11M3 5.5l2.5 2.5L3 10.5M13 5.5L10.5 8l2.5 2.5',
  Released: 'M5 3.500l7.5 4.500L5 12.500z',
  Running: 'M8 2.800a5.2 5.2 0 1 0 0 10.400a5.2 5.2 0 1 0 0-10.4',
  Suspended: 'M5.5 4v8M10.5 4v8',
  Completed: 'M3.5 8.500l3 3l6-7',
};

export function StateBadge({ state }: { readonly state: JobSetState }): VNode {
  const { word, meaning, tone } = STATE_WORDS[state];
  return html`<span class=${`badge is-${tone}`} title=${meaning}>
    <svg
      width="14"
      height="14"
      viewBox="0 0 16 16"
      fill=${state === 'Released' ? 'currentColor' : 'none'}
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d=${SHAPES[state]} />
    </svg>
    ${word}
  </span>`;
}
