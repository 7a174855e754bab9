/** The behaviour that differs between kinds. */

import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { NameRule } from '../../../api-machinery/validation/object-meta.ts';
import type { ApiObject, StoredObject } from './api-object.ts';

/**
 * How objects of a kind are completed, validated and deleted; everything else is common to all
 * kinds. The server handles metadata: strategies return objects with the metadata that they
 * received.
 */
export interface Strategy {
  /** Whether `metadata.generation` counts changes outside of metadata and status. */
  readonly countsGeneration: boolean;
  /** Subresources whose changes count in the generation too. */
  readonly countedSubresources?: readonly string[];
  /** A PUT without `metadata.resourceVersion` is refused. */
  readonly requiresRevision: boolean;
  /** A PUT to a name that does not exist creates it. */
  readonly createsOnUpdate: boolean;
  /** A deletion answers with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly nameRule: NameRule;
  /** Why no new objects can be created at the moment. */
  readonly forbidsCreate: string | undefined;
  /** Fills in what the schema cannot, before webhooks see the object. Idempotent. */
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
  /** Warnings for a new object, or for a change of `old`, that is valid. */
  warnings(object: ApiObject, old: ApiObject | undefined): readonly string[];
  readonly deletion: DeletionStrategy;
}

export interface StrategyContext {
  readonly nowMs: number;
  /** A new object's UID. */
  readonly uid: string;
  /** A random text for a generated name: `length` characters that cannot be guessed. */
  randomName(length: number): string;
  /** Other objects, for the few kinds that depend on them. */
  exists(plural: string, namespace: string | undefined, name: string): boolean;
}

export interface DeletionStrategy {
  /**
   * The grace period in seconds of an object that a node or controller has to end; undefined for
   * objects that go at once.
   */
  graceSeconds?(object: StoredObject, requested: number | undefined): number;
  /** For kinds that are emptied before they go: the changes when deletion begins. */
  begin?(object: ApiObject, nowMs: number): ApiObject;
  /** True if the object waits for more than its finalizers. */
  isHeld?(object: ApiObject): boolean;
  /** Why an object may not be deleted at all. */
  forbidden?(object: StoredObject): string | undefined;
}

/** The strategy of a kind without peculiarities. */
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
