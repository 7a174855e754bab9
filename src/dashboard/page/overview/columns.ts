/** The columns of the list in their order: what they are called, and what they are sorted by. */
import type { OverviewRow } from '../../../jobset/view/overview.ts';
import { STATES } from '../elements/state-words.ts';

interface ColumnWords {
  readonly title: string;
  readonly isNumber?: true;
  /** Null: it is not known. */
  readonly keyOf: (row: OverviewRow) => string | number | null;
}

const TABLE = {
  namespace: { title: 'Namespace', keyOf: (row) => row.namespace },
  name: { title: 'Name', keyOf: (row) => row.name },
  state: { title: 'State', keyOf: (row) => STATES.indexOf(row.shown.kind) },
  epoch: { title: 'Epoch', isNumber: true, keyOf: (row) => row.epoch },
  ready: { title: 'Ready', isNumber: true, keyOf: readyShare },
  restarts: { title: 'Restarts', isNumber: true, keyOf: (row) => row.restarts },
  goodput: { title: 'Goodput', isNumber: true, keyOf: (row) => row.goodput },
  // The last failure first, as the youngest first.
  failure: {
    title: 'Last failure',
    keyOf: ({ lastFailure }) => lastFailure && -lastFailure.timeMs,
  },
  age: { title: 'Age', isNumber: true, keyOf: (row) => -row.createdMs },
} as const satisfies Record<string, ColumnWords>;

export type Column = keyof typeof TABLE;
export const COLUMN_WORDS: Readonly<Record<Column, ColumnWords>> = TABLE;
export const COLUMNS = Object.keys(TABLE) as readonly Column[];

function readyShare({ ready, size }: OverviewRow): number | null {
  return ready === null || size === 0 ? null : ready / size;
}
