/**
 * Follows the definition of JobSets in the API server. If it is older than this operator, the server
 * drops new fields of the status without an error.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import {
  createInformer,
  withoutManagedFields,
} from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { type Logger, SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { FIELDS_OF_FEATURES } from '../../jobset/plan/reports/definition.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import { missingStatusFields, statusOnly } from '../../jobset/schema/missing-fields.ts';

export interface StoredDefinitionOptions extends MeasuredPorts {}

/** The facts about the definition: members of a `Snapshot`. */
export interface DefinitionFacts {
  readonly lacks: ReadonlySet<string>;
  readonly isDefinitionUnread: boolean;
}

/**
 * For an operator that may not read the definition, the fields of features count as missing. It has
 * the rights of an earlier version, so the definition, most likely, is of that version, too. A feature
 * whose field is never kept would delete Pods without end; a feature that is off does no harm.
 */
const UNREAD: DefinitionFacts = { lacks: FIELDS_OF_FEATURES, isDefinitionUnread: true };

export class StoredDefinition {
  readonly #logger: Logger;
  readonly #missing: (count: number) => void;
  readonly #informer: Informer<CustomResourceDefinition>;
  readonly #handlers = new Set<() => void>();
  readonly #whenKnown: Promise<void>;
  #resolve: () => void = () => undefined;
  #facts: DefinitionFacts | undefined;

  constructor(options: StoredDefinitionOptions) {
    this.#logger = options.logger;
    this.#whenKnown = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const gauge = options.metrics?.gauge({
      name: 'lockstep_definition_missing_fields',
      help: 'Fields of the status that the stored definition of JobSets lacks',
    });
    this.#missing = (count) => gauge?.set({}, count);
    this.#informer = createInformer<CustomResourceDefinition>({
      ...options,
      resource: CUSTOM_RESOURCE_DEFINITIONS,
      fieldSelector: `metadata.name=${JOBSET_CRD.metadata.name}`,
      transform: (definition) => {
        // An annotation of kubectl holds the definition once more.
        const { annotations: _, ...metadata } = withoutManagedFields(definition).metadata;
        const { apiVersion, kind } = definition;
        return { apiVersion, kind, metadata, spec: statusOnly(definition) };
      },
      // It tries again as long as it may not read, which is worth one line.
      logger: SILENT,
      onFailure: (error) => {
        if (this.#facts === undefined && isReason(error, 'Forbidden')) this.#learn(UNREAD);
      },
    });
    const see = (definition: CustomResourceDefinition): void => {
      const lacks = new Set(missingStatusFields(definition));
      this.#learn({ lacks, isDefinitionUnread: false });
    };
    this.#informer.subscribe({ added: see, updated: see });
    // JobSets that are served without a definition come from a server that keeps all fields.
    void this.#informer.whenSynced().then(() => {
      if (this.#facts === undefined) this.#learn({ lacks: new Set(), isDefinitionUnread: false });
    });
  }

  /** Undefined until anything is known. */
  get facts(): DefinitionFacts | undefined {
    return this.#facts;
  }

  /** Resolves once anything is known. */
  whenKnown(): Promise<void> {
    return this.#whenKnown;
  }

  /** Calls the handler after every change, until the signal aborts. */
  subscribe(handler: () => void, until: AbortSignal): void {
    this.#handlers.add(handler);
    until.addEventListener('abort', () => this.#handlers.delete(handler), { once: true });
  }

  reconnect(): void {
    this.#informer.reconnect();
  }

  stop(): Promise<void> {
    return this.#informer.stop();
  }

  #learn(facts: DefinitionFacts): void {
    const before = this.#facts;
    const fields = [...facts.lacks];
    const isSame = before?.isDefinitionUnread === facts.isDefinitionUnread;
    if (isSame && deepEqual([...before.lacks], fields)) return;
    this.#facts = facts;
    this.#missing(fields.length);
    if (facts.isDefinitionUnread) {
      this.#logger.warn(
        'the operator may not read the definition of JobSets, so features that write new fields of the status are off: give its account the rights of deploy/lockstep.yaml',
        { fields },
      );
    } else if (fields.length > 0) {
      this.#logger.warn(
        'the stored definition of JobSets lacks fields of the status, and features that need them are off: apply that of this version',
        { fields },
      );
    } else if (before !== undefined) {
      this.#logger.info('the stored definition of JobSets has all fields of the status now');
    }
    this.#resolve();
    for (const handler of this.#handlers) handler();
  }
}
