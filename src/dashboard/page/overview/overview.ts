/** All JobSets. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import {
  EMPTY_OVERVIEW,
  type OverviewMessage,
  type OverviewState,
  withOverviewMessage,
} from '../../messages/overview.ts';
import { OVERVIEW_EVENTS } from '../../messages/paths.ts';
import { useHeadline } from '../frame/frame.ts';
import { addressOf } from '../route.ts';
import { useStream } from '../use-stream.ts';

export function Overview(): VNode {
  const { state, isOpen, lostSinceMs } = useStream<OverviewState, OverviewMessage>(
    OVERVIEW_EVENTS,
    EMPTY_OVERVIEW,
    withOverviewMessage,
  );
  useHeadline({ title: 'JobSets', isOpen, lostSinceMs, problems: state.problems });
  return html`<h1 tabindex="-1">JobSets</h1>
    <ul>
      ${[...state.rows.values()].map(({ uid, namespace, name, state: is }) => {
        const address = addressOf({ view: 'Run', namespace, name, tab: 'run' });
        return html`<li key=${uid}><a href=${address}>${namespace}/${name}</a> ${is}</li>`;
      })}
    </ul>
`;
}
