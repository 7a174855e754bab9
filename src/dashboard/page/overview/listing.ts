/** Which rows of all there are are shown, and in which order. */

import type { OverviewRow } from '../../../jobset/view/overview.ts';
import type { StateKind } from '../../../jobset/view/shown-state.ts';
import { STATES } from '../elements/state-words.ts';
import { COLUMN_WORDS } from './columns.ts';
import type { Query } from './query.ts';

export interface Listing {
  /** The rows that the query asks for, in its order. */
  readonly rows: readonly OverviewRow[];
  /** All that there are. */
  readonly namespaces: readonly string[];
  /** How many there are in each state among those whose namespace and name are asked for. */
  readonly counts: ReadonlyMap<StateKind, number>;
}

export function listing(all: Iterable<OverviewRow>, query: Query): Listing {
  const namespaces = new Set<string>();
  const counts = new Map<StateKind, number>(STATES.map((state) => [state, 0]));
  const rows: OverviewRow[] = [];
  const part = query.name.trim().toLowerCase();
  for (const row of all) {
    namespaces.add(row.namespace);
    if (query.namespace !== '' && row.namespace !== query.namespace) continue;
    if (!row.name.toLowerCase().includes(part)) continue;
    const { kind } = row.shown;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (query.states.length === 0 || query.states.includes(kind)) rows.push(row);
  }
  return {
    rows: rows.sort(orderOf(query)),
    namespaces: [...namespaces].sort(compareTexts),
    counts,
  };
}

/** What is unknown comes last in either order. Equal rows are in the order of their names. */
function orderOf({ sort, isDescending }: Query): (a: OverviewRow, b: OverviewRow) => number {
  const { keyOf } = COLUMN_WORDS[sort];
  return (a, b) => {
    const one = keyOf(a);
    const other = keyOf(b);
    if (one !== other) {
      if (one === null) return 1;
      if (other === null) return -1;
      const order =
        typeof one === 'string' || typeof other === 'string'
          ? compareTexts(String(one), String(other))
          : one - other;
      if (order !== 0) return isDescending ? -order : order;
    }
    return compareTexts(a.namespace, b.namespace) || compareTexts(a.name, b.name);
  };
}

/** Numbers in names count: `run-9` is before `run-10`. */
const COLLATOR = new Intl.Collator('en', { numeric: true });

function compareTexts(a: string, b: string): number {
  return COLLATOR.compare(a, b);
}
