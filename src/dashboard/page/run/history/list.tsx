/** Conditions and Events in one list, the newest first. */
import { useContext, useMemo, useState } from 'preact/hooks';
import type { DatedCondition, EventView } from '../../../messages/run.ts';
import { Age, PlayedAt } from '../../elements/age.tsx';
import { shown } from '../../elements/shown-text.ts';
import { FILTERS, type HistoryFilter, historyOf, isShown } from '../history/history.ts';

export interface HistoryProps {
  readonly conditions: readonly DatedCondition[];
  readonly events: readonly EventView[];
}

const FIRST_SHOWN = 30;

export function History({ conditions, events }: HistoryProps) {
  const isLive = useContext(PlayedAt) === null;
  const [filter, choose] = useState<HistoryFilter>('All');
  const [text, seek] = useState('');
  const [limit, extend] = useState(FIRST_SHOWN);
  const all = useMemo(() => historyOf(conditions, events), [conditions, events]);
  const found = all.filter((each) => isShown(filter, text, each));
  return (
    <section class="card history" aria-labelledby="history-title">
      <div class="part-head">
        <h2 id="history-title">What happened</h2>
        <p class="quiet">
          {isLive
            ? 'conditions, and Events of the JobSet, its Jobs and its Pods; the newest first'
            : 'conditions; the newest first'}
        </p>
        <div class="part-tools" role="group" aria-label="Which of them">
          {FILTERS.map((each) => (
            <button
              key={each}
              type="button"
              class={`button ${each === filter ? 'is-on' : ''}`}
              aria-pressed={each === filter}
              onClick={() => choose(each)}
            >
              {each}
            </button>
          ))}
          <input
            class="input"
            type="search"
            placeholder="Text"
            aria-label="Filter by text"
            value={text}
            onInput={({ currentTarget }) => seek(currentTarget.value)}
          />
        </div>
      </div>
      <ol class="history-list">
        {found
          .slice(0, limit)
          .map(({ key, timeMs, kind, isWarning, isFinal, title, about, message, count }) => (
            <li key={key} class={isFinal ? 'is-warning is-final' : isWarning ? 'is-warning' : ''}>
              <span class="history-age quiet">
                <Age sinceMs={timeMs} />
              </span>
              <span class="history-kind quiet">
                {isWarning ? '⚠ ' : ''}
                {kind}
              </span>
              <span class="history-text">
                <b>{shown(title, 200)}</b> {count > 1 && <span class="badge">×{count}</span>}{' '}
                {about !== '' && <span class="quiet">{shown(about, 300)}:</span>}{' '}
                {shown(message, 600)}
              </span>
            </li>
          ))}
      </ol>
      {found.length === 0 && (
        <p class="part-empty">
          {all.length === 0
            ? isLive
              ? 'Nothing was told yet. Kubernetes forgets Events after an hour.'
              : 'There are no conditions yet. A trace has no Events.'
            : 'Nothing matches.'}
        </p>
      )}
      {found.length > limit && (
        <button type="button" class="button" onClick={() => extend(limit * 4)}>
          {found.length - limit} older ones
        </button>
      )}
    </section>
  );
}
