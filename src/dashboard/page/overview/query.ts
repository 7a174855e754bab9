/** What the list shows, and in which order: it stands in the address, so that it can be kept. */

import type { StateKind } from '../../../jobset/view/shown-state.ts';
import { STATES } from '../elements/state-words.ts';
import { COLUMNS, type Column } from './columns.ts';

export interface Query {
  /** Empty: all. */
  readonly namespace: string;
  /** Empty: all. */
  readonly states: readonly StateKind[];
  /** A part of the name. */
  readonly name: string;
  readonly sort: Column;
  readonly isDescending: boolean;
}

/** What asks for attention first. */
export const NO_QUERY: Query = {
  namespace: '',
  states: [],
  name: '',
  sort: 'state',
  isDescending: false,
};

/** What an address does not say, or says wrongly, is as it is without. */
export function queryOf(hash: string): Query {
  const [, text = ''] = /^#\/\?(.*)$/s.exec(hash) ?? [];
  const given = new URLSearchParams(text);
  const states = (given.get('state') ?? '').split(',');
  const sort = given.get('sort') ?? '';
  return {
    namespace: given.get('namespace') ?? NO_QUERY.namespace,
    states: STATES.filter((state) => states.includes(state)),
    name: given.get('name') ?? NO_QUERY.name,
    sort: COLUMNS.find((column) => column === sort) ?? NO_QUERY.sort,
    isDescending: given.get('order') === 'descending',
  };
}

export function addressOfQuery({ namespace, states, name, sort, isDescending }: Query): string {
  const given = new URLSearchParams();
  if (namespace !== '') given.set('namespace', namespace);
  if (states.length > 0) given.set('state', states.join(','));
  if (name !== '') given.set('name', name);
  if (sort !== NO_QUERY.sort) given.set('sort', sort);
  if (isDescending) given.set('order', 'descending');
  return given.size === 0 ? '#/' : `#/?${given}`;
}

/** A column that is chosen again turns round. */
export function sortedBy(query: Query, column: Column): Query {
  const isDescending = query.sort === column && !query.isDescending;
  return { ...query, sort: column, isDescending };
}

export function withState(query: Query, state: StateKind, isChosen: boolean): Query {
  const states = STATES.filter((each) => (each === state ? isChosen : query.states.includes(each)));
  return { ...query, states };
}
