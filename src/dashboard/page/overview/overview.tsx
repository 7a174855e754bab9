/** All JobSets. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  EMPTY_OVERVIEW,
  type OverviewMessage,
  type OverviewState,
  withOverviewMessage,
} from '../../messages/overview.ts';
import { OVERVIEW_EVENTS } from '../../messages/paths.ts';
import { useHeadline } from '../frame/frame.tsx';
import { useStream } from '../use-stream.ts';
import { Filters } from './filters.tsx';
import { FirstLookCard, nextStep } from './first-look.tsx';
import { listing } from './listing.ts';
import { NoJobSets } from './no-jobsets.tsx';
import { addressOfQuery, NO_QUERY, type Query, queryOf } from './query.ts';
import { RowTable } from './row-table.tsx';

/** Rows of a page: so the time to draw has a bound, however many there are. */
const PAGE_ROWS = 100;

export function Overview() {
  const { state, ...connection } = useStream<OverviewState, OverviewMessage>(
    OVERVIEW_EVENTS,
    EMPTY_OVERVIEW,
    withOverviewMessage,
  );
  const { rows: all, problems } = state;
  useHeadline({ title: 'JobSets', problems, ...connection });
  const [query, setQuery] = useQuery();
  const [page, turnTo] = useState(0);
  const listed = useMemo(() => listing(all.values(), query), [all, query]);
  const table = useRef<HTMLDivElement>(null);
  const toFirstRow = (): void => {
    table.current?.querySelector<HTMLElement>('.row-name a')?.focus();
  };
  const { rows } = listed;
  const change = (next: Query): void => {
    turnTo(0);
    setQuery(next);
  };
  const next = nextStep(all.values());
  // Rows may have gone since the page was turned to.
  const first = Math.min(page, Math.ceil(rows.length / PAGE_ROWS) - 1) * PAGE_ROWS;
  return (
    <>
      <div class="overview-head">
        <h1 tabindex={-1}>JobSets</h1>
        <p class="quiet" aria-live="polite">
          {state.isComplete &&
            (rows.length === all.size ? all.size : `${rows.length} of ${all.size}`)}
        </p>
      </div>
      {all.size > 0 && (
        <Filters query={query} onQuery={change} listing={listed} onDown={toFirstRow} />
      )}
      <div ref={table}>
        {rows.length > 0 ? (
          <RowTable rows={rows.slice(first, first + PAGE_ROWS)} query={query} onQuery={change} />
        ) : (
          <NoJobSets
            isComplete={state.isComplete}
            isFiltered={all.size > 0}
            isRefused={problems.length > 0}
            hasFirstLook={state.firstLook !== undefined}
            onAll={() => change(NO_QUERY)}
          />
        )}
      </div>
      {state.isComplete && state.firstLook !== undefined && next !== null && (
        <FirstLookCard commands={state.firstLook} next={next} />
      )}
      {rows.length > PAGE_ROWS && (
        <Pages first={first} count={rows.length} onTurn={(to) => turnTo(to / PAGE_ROWS)} />
      )}
    </>
  );
}

interface PagesProps {
  /** Index of the first row that is shown. */
  readonly first: number;
  readonly count: number;
  readonly onTurn: (first: number) => void;
}

function Pages({ first, count, onTurn }: PagesProps) {
  const last = Math.min(first + PAGE_ROWS, count);
  const turn = (to: number): void => {
    onTurn(to);
    scrollTo(0, 0);
  };
  return (
    <nav class="overview-pages" aria-label="Pages of the list">
      <button
        type="button"
        class="button"
        disabled={first === 0}
        onClick={() => turn(first - PAGE_ROWS)}
      >
        Previous
      </button>
      <span aria-live="polite">
        {first + 1} to {last} of {count}
      </span>
      <button type="button" class="button" disabled={last === count} onClick={() => turn(last)}>
        Next
      </button>
    </nav>
  );
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
