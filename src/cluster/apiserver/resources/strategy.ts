import type { NameRule } from '../../../api-machinery/validation/object-meta.ts';
import { dns1123SubdomainErrors } from '../../../kube/names.ts';
import type { FieldError } from '../../../kube/status.ts';
import type { ApiObject, StoredObject } from './api-object.ts';

/**
 * What is particular to a kind: how an object is completed before it is stored, what is wrong with
 * it, and how it is deleted. Everything else about an object is the same for all kinds. Metadata is
 * the server's business; strategies return objects with the metadata that they were given.
 */
export interface Strategy {
  /** Changes outside metadata and status count in `metadata.generation`. */
  readonly countsGeneration: boolean;
  /** Subresources through which the desire is changed, too. */
  readonly countedSubresources?: readonly string[];
  /** A PUT without `metadata.resourceVersion` is refused. */
  readonly requiresRevision: boolean;
  /** A PUT to a name that does not exist creates it. */
  readonly createsOnUpdate: boolean;
  /** A deletion answers with the object, not with a Status. */
  readonly returnsDeleted: boolean;
  readonly nameRule: NameRule;
  /** Why there can be no new objects just now. */
  readonly forbidsCreate: string | undefined;
  /** Fills in what the schema cannot say; webhooks see it. Done twice, it changes nothing more. */
  defaults(object: ApiObject): ApiObject;
  prepareForCreate(object: ApiObject, context: StrategyContext): ApiObject;
  /** `subresource` is undefined for the object itself. */
  prepareForUpdate(
    object: ApiObject,
    old: StoredObject,
    subresource: string | undefined,
    context: StrategyContext,
  ): ApiObject;
  validate(object: ApiObject): readonly FieldError[];
  validateUpdate(
    object: ApiObject,
    old: StoredObject,
    subresource: string | undefined,
  ): readonly FieldError[];
  /** Things to tell the client that are no errors, of a new object or of a change of `old`. */
  warnings(object: ApiObject, old: ApiObject | undefined): readonly string[];
  readonly deletion: DeletionStrategy;
}

export interface StrategyContext {
  readonly nowMs: number;
  /** A new object's UID. */
  readonly uid: string;
  /** Unguessable enough for a name: `length` characters of the alphabet of generated names. */
  randomName(length: number): string;
  /** Other objects, for the few kinds that depend on them. */
  exists(plural: string, namespace: string | undefined, name: string): boolean;
}

export interface DeletionStrategy {
  /**
   * The grace period of an object that somebody else has to end, in seconds; undefined for objects
   * that simply go.
   */
  graceSeconds?(object: StoredObject, requested: number | undefined): number;
  /** For kinds that are emptied before they go: what is recorded when deletion begins. */
  begin?(object: ApiObject, nowMs: number): ApiObject;
  /** True if the object waits for more than its finalizers. */
  isHeld?(object: ApiObject): boolean;
  /** Why an object may not be deleted at all. */
  forbidden?(object: StoredObject): string | undefined;
}

/** A kind that has nothing particular. */
export const PLAIN_STRATEGY: Strategy = {
  countsGeneration: false,
  requiresRevision: false,
  createsOnUpdate: false,
  returnsDeleted: false,
  nameRule: dns1123SubdomainErrors,
  forbidsCreate: undefined,
  defaults: (object) => object,
  prepareForCreate: (object) => object,
  prepareForUpdate: (object) => object,
  validate: () => [],
  validateUpdate: () => [],
  warnings: () => [],
  deletion: {},
};
