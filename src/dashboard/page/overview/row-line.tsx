/** One JobSet in the list. */
import { Component, type ComponentChildren } from 'preact';
import type { OverviewRow } from '../../../jobset/view/overview.ts';
import { Age } from '../elements/age.tsx';
import { shown } from '../elements/shown-text.ts';
import { StateBadge } from '../elements/state-badge.tsx';
import { shareText } from '../elements/time-text.ts';
import { addressOf } from '../route.ts';
import { NO_LOOK } from '../run/look.ts';
import { budgetWords, readyText } from './row-words.ts';

interface RowLineProps {
  readonly row: OverviewRow;
}

/** UTF-16 code units of a last failure; the whole of it is in the view of the run. */
const FAILURE_LENGTH = 240;

/** It is drawn again only for another row: a list has many, and few change. */
export class RowLine extends Component<RowLineProps> {
  override shouldComponentUpdate({ row }: RowLineProps): boolean {
    return row !== this.props.row;
  }

  override render(): ComponentChildren {
    const { row } = this.props;
    const { namespace, name, state, epoch, goodput, lastFailure } = row;
    const address = addressOf({ view: 'Run', namespace, name, tab: 'run', look: NO_LOOK });
    const isShort = row.ready !== null && row.ready < row.size && ACTIVE.includes(state);
    const budget = budgetWords(row);
    return (
      <tr role="row">
        <td role="cell" class="row-namespace">
          {shown(namespace)}
        </td>
        <th role="rowheader" scope="row" class="row-name">
          <a href={address}>{shown(name)}</a>
        </th>
        <td role="cell" class="row-state">
          <StateBadge shown={row.shown} />
        </td>
        <td role="cell" class="number" data-label="Epoch">
          {epoch ?? '–'}
        </td>
        <td role="cell" class={`number ${isShort ? 'is-short' : ''}`} data-label="Ready">
          {readyText(row)}
        </td>
        <td role="cell" class="number" data-label="Restarts">
          {row.restarts} <span class={budget.isSpent ? 'is-spent' : 'quiet'}>({budget.text})</span>
        </td>
        <td role="cell" class="number" data-label="Goodput" title={goodputTitle(row)}>
          {goodput === null ? <span class="quiet">unknown</span> : shareText(goodput)}
        </td>
        <td role="cell" class="row-failure" data-label="Last failure">
          {lastFailure === null ? (
            <span class="quiet">none</span>
          ) : (
            <span class="row-failure-text">
              <Age sinceMs={lastFailure.timeMs} /> ago: {shown(lastFailure.text, FAILURE_LENGTH)}
            </span>
          )}
        </td>
        <td role="cell" class="number" data-label="Age">
          <Age sinceMs={row.createdMs} />
        </td>
      </tr>
    );
  }
}

function goodputTitle({ goodputUnknown, goodputUntilMs }: OverviewRow): string {
  if (goodputUnknown !== null) return goodputUnknown;
  return goodputUntilMs === null ? '' : `until ${new Date(goodputUntilMs).toISOString()}`;
}

/** States in which every member should be ready. */
const ACTIVE: readonly OverviewRow['state'][] = ['Released', 'AtBarrier', 'Running'];
