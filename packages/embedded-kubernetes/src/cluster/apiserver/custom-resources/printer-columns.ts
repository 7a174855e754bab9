/** Tables of custom resources for kubectl. */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { PrinterColumn } from '@lockstep/kube/objects/custom-resource-definition.ts';
import {
  findAll,
  type JsonPath,
  parseJsonPath,
} from '../../../api-machinery/definitions/json-path.ts';
import type { StoredObject } from '../resources/api-object.ts';
import { ageText, type Cell, PLAIN_TABLE, type TableLayout } from '../resources/table-layout.ts';

/** The table of a custom resource: its name, then the printer columns of its definition. */
export function printerTable(columns: readonly PrinterColumn[]): TableLayout {
  if (columns.length === 0) return PLAIN_TABLE;
  const readable = columns.map((column) => {
    const parsed = parseJsonPath(column.jsonPath);
    return { column, path: 'path' in parsed ? parsed.path : undefined };
  });
  return {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      ...columns.map(({ name, type, format, description, jsonPath, priority }) => ({
        name,
        type,
        ...defined({ format }),
        description:
          description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
        ...defined({ priority }),
      })),
    ],
    cells: (object, nowMs) => [
      object.metadata.name,
      ...readable.map(({ column, path }) => cell(object, column, path, nowMs)),
    ],
  };
}

function cell(
  object: StoredObject,
  column: PrinterColumn,
  path: JsonPath | undefined,
  nowMs: number,
): Cell {
  const found = path === undefined ? [] : findAll(object, path);
  const [value] = found;
  if (value === undefined || value === null) return null;
  switch (column.type) {
    case 'date':
      return ageText(textOf(value), nowMs);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'string':
      return found.map(textOf).join(' ');
    default:
      return column.type satisfies never;
  }
}

/** A string as it is, everything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
