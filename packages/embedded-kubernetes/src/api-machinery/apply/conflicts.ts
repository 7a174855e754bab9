/** Conflicts of server-side apply: a manager sets a field to another value than its owners did. */
import { quote } from '@lockstep/kube/quote.ts';
import { type ApiStatusError, failure } from '@lockstep/kube/status.ts';
import { difference, type FieldSet, isEmptySet, shownPaths } from './field-set.ts';
import type { Manager } from './managers.ts';

/** One field in conflict, with a manager that owns it. */
export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

/** The conflicts without those about the given fields. */
export function conflictsWithout(
  conflicts: readonly Conflict[],
  fields: FieldSet,
): readonly Conflict[] {
  return conflicts
    .map((conflict) => ({ ...conflict, fields: difference(conflict.fields, fields) }))
    .filter((conflict) => !isEmptySet(conflict.fields));
}

/** 409 `Conflict`, with a cause for each field. */
export function conflictRefusal(conflicts: readonly Conflict[]): ApiStatusError {
  const shown = conflicts
    .map(({ manager, fields }) => ({ name: shownManager(manager), paths: shownPaths(fields) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const causes = shown.flatMap(({ name, paths }) =>
    paths.map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${name}`,
      field,
    })),
  );
  const [only] = causes;
  const lines = shown.flatMap(({ name, paths }) => [
    `conflicts with ${name}:`,
    ...paths.map((path) => `- ${path}`),
  ]);
  const message =
    only !== undefined && causes.length === 1
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`;
  return failure('Conflict', message, { causes });
}

function shownManager({ name, operation, apiVersion, subresource }: Manager): string {
  const through = subresource === '' ? '' : ` with subresource ${quote(subresource)}`;
  const using = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${quote(name)}${through}${using}`;
}
