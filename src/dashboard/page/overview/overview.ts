/** All JobSets. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  EMPTY_OVERVIEW,
  type OverviewMessage,
  type OverviewState,
  withOverviewMessage,
} from '../../messages/overview.ts';
import { OVERVIEW_EVENTS } from '../../messages/paths.ts';
import { useHeadline } from '../frame/frame.ts';
import { useStream } from '../use-stream.ts';
import { Filters } from './filters.ts';
import { listing } from './listing.ts';
import { NoJobSets } from './no-jobsets.ts';
import { addressOfQuery, NO_QUERY, type Query, queryOf } from './query.ts';
import { RowTable } from './row-table.ts';

/** Rows that are drawn at first, and with each wish for more: a screen shows some 30. */
const ROWS_AT_ONCE = 200;

export function Overview(): VNode {
  const { state, isOpen, lostSinceMs } = useStream<OverviewState, OverviewMessage>(
    OVERVIEW_EVENTS,
    EMPTY_OVERVIEW,
    withOverviewMessage,
  );
  const { rows: all, problems } = state;
  useHeadline({ title: 'JobSets', isOpen, lostSinceMs, problems });
  const [query, setQuery] = useQuery();
  const [limit, setLimit] = useState(ROWS_AT_ONCE);
  const listed = useMemo(() => listing(all.values(), query), [all, query]);
  const table = useRef<HTMLDivElement>(null);
  const toFirstRow = (): void => {
    table.current?.querySelector<HTMLElement>('.row-name a')?.focus();
  };
  const { rows } = listed;
  return html`<div class="overview-head">
      <h1 tabindex="-1">JobSets</h1>
      <p class="quiet" aria-live="polite">
        ${state.isComplete && (rows.length === all.size ? all.size : `${rows.length} of ${all.size}`)}
      </p>
    </div>
    ${
      all.size > 0 &&
      html`<${Filters} ...${{ query, onQuery: setQuery, listing: listed, onDown: toFirstRow }} />`
    }
    <div ref=${table}>
      ${
        rows.length > 0
          ? html`<${RowTable} rows=${rows.slice(0, limit)} query=${query} onQuery=${setQuery} />`
          : html`<${NoJobSets}
              isComplete=${state.isComplete}
              isFiltered=${all.size > 0}
              isRefused=${problems.length > 0}
              onAll=${() => setQuery(NO_QUERY)}
            />`
      }
    </div>
    ${
      rows.length > limit &&
      html`<p class="overview-more">
        ${limit} of ${rows.length} are shown.
        <button type="button" class="button" onClick=${() => setLimit(limit + ROWS_AT_ONCE)}>
          Show ${Math.min(ROWS_AT_ONCE, rows.length - limit)} more
        </button>
      </p>`
    }`;
}

/** Follows the address, and changes it without a step in the history for each letter. */
function useQuery(): readonly [Query, (query: Query) => void] {
  const [query, show] = useState(() => queryOf(location.hash));
  useEffect(() => {
    const follow = (): void => show(queryOf(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const change = useCallback((next: Query) => {
    history.replaceState(null, '', addressOfQuery(next));
    show(next);
  }, []);
  return [query, change];
}
