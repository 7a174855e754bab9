/** What of all JobSets is shown. */
import { useCallback, useRef } from 'preact/hooks';
import { shown } from '../elements/shown-text.ts';
import { STATE_WORDS, STATES } from '../elements/state-words.ts';
import { useKey } from '../frame/keys.tsx';
import type { Listing } from './listing.ts';
import { type Query, withState } from './query.ts';
import { SortField } from './row-table.tsx';

export interface FiltersProps {
  readonly query: Query;
  readonly listing: Listing;
  readonly onQuery: (query: Query) => void;
  /** Goes from the field of the name to the first row. */
  readonly onDown: () => void;
}

export function Filters({ query, listing, onQuery, onDown }: FiltersProps) {
  const field = useRef<HTMLInputElement>(null);
  useKey(
    '/',
    useCallback(() => field.current?.select(), []),
  );
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onQuery({ ...query, name: '' });
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    onDown();
  };
  // A namespace whose last JobSet has gone is still the one that is asked for.
  const namespaces = new Set([...listing.namespaces, query.namespace].filter(Boolean));
  return (
    <search class="filters" aria-label="JobSets">
      <label class="field filters-name">
        Name
        <input
          class="input"
          type="search"
          placeholder="Part of a name ( / )"
          maxlength={253}
          autocomplete="off"
          spellcheck={false}
          ref={field}
          value={query.name}
          onInput={({ currentTarget }) => onQuery({ ...query, name: currentTarget.value })}
          onKeyDown={press}
        />
      </label>
      <label class="field">
        Namespace
        <select
          class="input"
          value={query.namespace}
          onChange={({ currentTarget }) => onQuery({ ...query, namespace: currentTarget.value })}
        >
          <option value="">All namespaces</option>
          {[...namespaces].map((each) => (
            <option key={each} value={each}>
              {shown(each)}
            </option>
          ))}
        </select>
      </label>
      <SortField query={query} onQuery={onQuery} />
      <fieldset class="filters-states">
        <legend>State</legend>
        {STATES.map((state) => {
          const isChosen = query.states.includes(state);
          const { word, meaning } = STATE_WORDS[state];
          return (
            <button
              key={state}
              type="button"
              class="chip"
              title={meaning}
              aria-pressed={isChosen}
              onClick={() => onQuery(withState(query, state, !isChosen))}
            >
              <span class="chip-mark" aria-hidden="true">
                {isChosen ? '✓' : ''}
              </span>
              {word}
              <b>{listing.counts.get(state) ?? 0}</b>
            </button>
          );
        })}
      </fieldset>
    </search>
  );
}
