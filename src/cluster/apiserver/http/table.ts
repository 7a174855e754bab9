import { humanDuration } from '../../../kube/duration.ts';
import type { JsonObject } from '../../../kube/json/json-value.ts';
import type { StoredObject } from '../resources/api-object.ts';
import type { IncludeObject, MetaVersion } from './content-negotiation.ts';
import { partialMetadata } from './partial-metadata.ts';

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

export interface TableOptions {
  readonly version: MetaVersion;
  readonly includeObject: IncludeObject;
  /** Left out of all but the first event of a watch. */
  readonly withColumns: boolean;
}

export function tableOf(
  layout: TableLayout,
  objects: readonly StoredObject[],
  metadata: JsonObject,
  nowMs: number,
  options: TableOptions,
): JsonObject {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.withColumns ? layout.columns.map(columnDefinition) : null,
    rows: objects.map((object) => ({
      cells: layout.cells(object, nowMs),
      ...embedded(object, options),
    })),
  };
}

function columnDefinition(column: TableColumn): JsonObject {
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? '',
    description: column.description ?? '',
    priority: column.priority ?? 0,
  };
}

function embedded(object: StoredObject, options: TableOptions): JsonObject {
  switch (options.includeObject) {
    case 'None':
      return { object: null };
    case 'Metadata':
      return { object: partialMetadata(object, options.version) };
    case 'Object':
      return { object };
    default:
      return options.includeObject satisfies never;
  }
}
