/** How a built-in kind is declared. */

import type { Resource } from '@lockstep/kube/resource.ts';
import { kindSchema } from '../../../api-machinery/kind-schemas/kind-definitions.ts';
import type { Collection } from './collection.ts';
import {
  ALL_VERBS,
  type ServedResource,
  type Subresource,
  type Verb,
  type View,
} from './served-resource.ts';
import { PLAIN_STRATEGY, type Strategy } from './strategy.ts';
import { PLAIN_TABLE, type TableLayout } from './table-layout.ts';

/** The properties of a built-in kind; those left out have the usual values. */
export interface BuiltInKind {
  readonly resource: Resource;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly hasStatus?: boolean;
  readonly verbs?: readonly Verb[];
  /** Subresources besides `status`. */
  readonly subresources?: readonly Subresource[];
  readonly strategy?: Partial<Strategy>;
  readonly table?: TableLayout;
  readonly fieldLabels?: ServedResource['fieldLabels'];
  /** Set if objects of this kind are stored as another kind. */
  readonly storedAs?: { readonly resource: Resource; readonly view: View };
}

const SAME: View = { show: (stored) => stored, store: (shown) => shown };

export function servedBuiltIn(kind: BuiltInKind, collection: Collection): ServedResource {
  const { resource, subresources = [] } = kind;
  return {
    ...resource,
    singular: resource.kind.toLowerCase(),
    listKind: `${resource.kind}List`,
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    verbs: kind.verbs ?? ALL_VERBS,
    subresources: kind.hasStatus === true ? [...subresources, STATUS] : subresources,
    schema: kindSchema(resource),
    strategy: { ...PLAIN_STRATEGY, ...kind.strategy },
    table: kind.table ?? PLAIN_TABLE,
    fieldLabels: kind.fieldLabels ?? {},
    collection,
    view: kind.storedAs?.view ?? SAME,
    custom: false,
  };
}

export const STATUS: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'] };
