/** Tables, the form in which kubectl asks for objects to print. */
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { StoredObject } from '../resources/api-object.ts';
import type { TableColumn, TableLayout } from '../resources/table-layout.ts';
import type { IncludeObject, MetaVersion } from './content-negotiation.ts';
import { partialMetadata } from './partial-metadata.ts';

export interface TableOptions {
  readonly version: MetaVersion;
  readonly includeObject: IncludeObject;
  /** The columns are left out of all watch events but the first. */
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
