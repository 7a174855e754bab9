import { humanDuration } from '@lockstep/kube/duration.ts';
import type { StoredObject } from './api-object.ts';

/** `meta.k8s.io Table`: the columns of a kind, and rows of cells that the server fills in. */
export interface TableLayout {
  readonly columns: readonly TableColumn[];
  /** One cell for each column. `nowMs` is what ages count from. */
  cells(object: StoredObject, nowMs: number): readonly Cell[];
}

export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown; 1 only by `kubectl get -o wide`. */
  readonly priority?: number;
}

export type Cell = string | number | boolean | null;

/** Name and age: what every kind shows that has nothing better. */
export const PLAIN_TABLE: TableLayout = {
  columns: [
    { name: 'Name', type: 'string', format: 'name' },
    { name: 'Age', type: 'string' },
  ],
  cells: (object, nowMs) => [object.metadata.name, ageOf(object, nowMs)],
};

export function ageOf(object: StoredObject, nowMs: number): string {
  return ageText(object.metadata.creationTimestamp, nowMs);
}

/** The time since a timestamp as people read it, `<unknown>` if there is none. */
export function ageText(timestamp: string | null | undefined, nowMs: number): string {
  const then = Date.parse(timestamp ?? '');
  return Number.isNaN(then) ? '<unknown>' : humanDuration(nowMs - then);
}
