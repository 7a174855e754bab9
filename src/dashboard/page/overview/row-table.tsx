/** The list of JobSets as a table, and as cards where there is little room. */
import type { OverviewRow } from '../../../jobset/view/overview.ts';
import { COLUMN_WORDS, COLUMNS, type Column } from './columns.ts';
import { type Query, sortedBy } from './query.ts';
import { RowLine } from './row-line.tsx';

export interface RowTableProps {
  readonly rows: readonly OverviewRow[];
  readonly query: Query;
  readonly onQuery: (query: Query) => void;
}

export function RowTable({ rows, query, onQuery }: RowTableProps) {
  return (
    <table class="jobsets card" role="table" onKeyDown={moveAmongRows}>
      <caption class="visually-hidden">JobSets</caption>
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map((column) => (
            <ColumnHead key={column} column={column} query={query} onQuery={onQuery} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <RowLine key={row.uid} row={row} />
        ))}
      </tbody>
    </table>
  );
}

/** For cards, which have no heads of columns. */
export function SortField({ query, onQuery }: Omit<RowTableProps, 'rows'>) {
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }): void => {
    const [sort = '', order] = currentTarget.value.split(' ');
    const column = COLUMNS.find((each) => each === sort);
    if (column !== undefined) onQuery({ ...query, sort: column, isDescending: order === 'down' });
  };
  const value = `${query.sort} ${query.isDescending ? 'down' : 'up'}`;
  return (
    <label class="field jobsets-sort">
      Sort by
      <select class="input" value={value} onChange={choose}>
        {COLUMNS.flatMap((column) => [
          <option value={`${column} up`}>{COLUMN_WORDS[column].title} ↑</option>,
          <option value={`${column} down`}>{COLUMN_WORDS[column].title} ↓</option>,
        ])}
      </select>
    </label>
  );
}

interface ColumnHeadProps extends Omit<RowTableProps, 'rows'> {
  readonly column: Column;
}

function ColumnHead({ column, query, onQuery }: ColumnHeadProps) {
  const { title, isNumber } = COLUMN_WORDS[column];
  const isSorted = query.sort === column;
  const order = isSorted ? (query.isDescending ? 'descending' : 'ascending') : 'none';
  const mark = isSorted ? (query.isDescending ? '↓' : '↑') : '';
  return (
    <th role="columnheader" scope="col" class={isNumber ? 'number' : ''} aria-sort={order}>
      <button type="button" onClick={() => onQuery(sortedBy(query, column))}>
        {title}
        <span class="sort-mark" aria-hidden="true">
          {mark}
        </span>
      </button>
    </th>
  );
}

/** The arrow keys go from row to row, by the links that open them. */
function moveAmongRows(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const { target, currentTarget } = event;
  if (step === 0 || !(currentTarget instanceof HTMLElement)) return;
  const links = [...currentTarget.querySelectorAll<HTMLElement>('.row-name a')];
  const from = target instanceof HTMLElement ? links.indexOf(target) : -1;
  const to = links[from + step];
  if (from < 0 || to === undefined) return;
  event.preventDefault();
  to.focus();
}
