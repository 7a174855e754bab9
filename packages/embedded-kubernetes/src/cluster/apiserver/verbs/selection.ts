/** Selects objects for a list, a watch or the deletion of a collection. */
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { quote } from '@lockstep/kube/quote.ts';
import {
  type FieldRequirements,
  matchesFields,
  parseFieldSelector,
  requiredValue,
} from '@lockstep/kube/selectors/field-selector.ts';
import {
  type LabelRequirements,
  matchesLabels,
  parseLabelSelector,
} from '@lockstep/kube/selectors/label-selector.ts';
import { badRequest } from '@lockstep/kube/status-errors.ts';
import type { StoredObject } from '../resources/api-object.ts';
import type { Entry } from '../resources/entry.ts';
import { collectionKey, type ServedResource } from '../resources/served-resource.ts';

/** The objects of a collection that a request is about. */
export interface Selection {
  /** Keys of selected objects begin with this. */
  readonly prefix: string;
  /** Whether an entry whose key has the prefix is selected. */
  matches(entry: Entry): boolean;
  readonly isFiltered: boolean;
}

/** Throws 400 for invalid selectors and for fields that the resource does not offer. */
export function selectionOf(
  of: ServedResource,
  namespace: string | undefined,
  query: URLSearchParams,
): Selection {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
  for (const { field } of fields) {
    if (Object.hasOwn(IDENTITY_LABELS, field) || Object.hasOwn(of.fieldLabels, field)) continue;
    throw badRequest(unknownFieldLabel(of, field));
  }
  const prefix = namespace === undefined || namespace === '' ? '' : `${namespace}/`;
  return {
    prefix: exactKey(of, namespace, fields) ?? prefix,
    matches: (entry) => matchesObject(of, labels, fields, entry.object),
    isFiltered: labels.length + fields.length > 0,
  };
}

/** The error names no field labels if the kind adds none. */
function unknownFieldLabel(of: ServedResource, field: string): string {
  if (of.group === 'batch') return `field label ${quote(field)} not supported for ${of.kind}`;
  if (of.custom || Object.keys(of.fieldLabels).length > 0) {
    return `field label not supported: ${field}`;
  }
  const known = Object.keys(IDENTITY_LABELS).map(quote).join(', ');
  return `${quote(field)} is not a known field selector: only ${known}`;
}

const IDENTITY_LABELS: Readonly<Record<string, (object: StoredObject) => string>> = {
  'metadata.name': (object) => object.metadata.name,
  'metadata.namespace': (object) => namespaceOf(object.metadata),
};

function matchesObject(
  of: ServedResource,
  labels: LabelRequirements,
  fields: FieldRequirements,
  object: StoredObject,
): boolean {
  if (fields.length > 0 && !matchesFields(fields, (field) => fieldOf(of, object, field))) {
    return false;
  }
  return labels.length === 0 || matchesLabels(labels, object.metadata.labels);
}

function fieldOf(of: ServedResource, object: StoredObject, field: string): string | undefined {
  const identity = IDENTITY_LABELS[field];
  return identity === undefined ? of.fieldLabels[field]?.(of.view.show(object)) : identity(object);
}

/**
 * The key, if a field selector names the object: then the collection need not be searched. The
 * selectors still apply.
 */
function exactKey(
  of: ServedResource,
  namespace: string | undefined,
  fields: FieldRequirements,
): string | undefined {
  const name = requiredValue(fields, 'metadata.name');
  if (name === undefined) return undefined;
  if (!of.namespaced) return name;
  const within = namespace ?? requiredValue(fields, 'metadata.namespace');
  return within === undefined || within === '' ? undefined : collectionKey(within, name);
}
