/**
 * Publishes the hub's certificate authorities to agents. Writes a ConfigMap into each namespace
 * that has a group; Pods mount it and nodes keep it up to date. It outlives the operator, so a
 * running group follows the authorities of the next installation. A ConfigMap of that name from
 * another owner stays as it is.
 */

import { ownMember } from '@lockstep/kube/json/json-value.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS, type ConfigMap } from '@lockstep/kube/objects/core.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import {
  type ReconcileResult,
  startController,
} from '@lockstep/kube/runtime/controller/controller.ts';
import {
  type EventRecorder,
  referenceTo,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import {
  createInformer,
  withoutManagedFields,
} from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { ApiStatusError, isReason } from '@lockstep/kube/status.ts';
import type { ServedHub } from '../../jobset/injection/agent-hub.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { HUB_AUTHORITIES_KEY, HUB_AUTHORITIES_NAME } from '../../jobset/names.ts';
import { isGroup } from '../../jobset/policies/restart-strategy.ts';
import { HUB_AUTHORITIES_LABELS, HUB_AUTHORITIES_SELECTOR } from '../configuration/object-names.ts';
import { GROUPS_BY_NAMESPACE } from '../tracking/caches.ts';

export interface HubAuthoritiesOptions extends MeasuredPorts {
  readonly events: EventRecorder;
  /** All namespaces when absent. */
  readonly namespaces?: readonly string[] | undefined;
  readonly jobSets: Informer<JobSet>;
  readonly access: () => ServedHub;
}

/** Short enough for a changed authority, which signs nothing for five minutes. */
const REVIEW_INTERVAL_MS = 60_000;
/** The most writes per second, for any number of namespaces. */
const WRITES_PER_SECOND = 20;
/** How many JobSets of a namespace get an Event about a problem. */
const MAX_TOLD = 10;

export function publishHubAuthorities(options: HubAuthoritiesOptions): { stop(): Promise<void> } {
  const { client, clock, random, logger, namespaces, jobSets } = options;
  const maps = createInformer<ConfigMap>({
    client,
    clock,
    random,
    logger,
    namespaces,
    resource: CONFIG_MAPS,
    fieldSelector: `metadata.name=${HUB_AUTHORITIES_NAME}`,
    transform: withOwnKeyOnly,
  });
  const publisher = new Publisher(options, maps);
  const controller = startController({
    ...options,
    name: 'hub-authorities',
    workers: 1,
    reconcile: async (key, signal) => {
      await maps.whenSynced(signal);
      return publisher.publish(key, signal);
    },
  });
  const look = (map: Stored<ConfigMap>): void => controller.enqueue(namespaceOf(map.metadata));
  maps.subscribe({ updated: look, deleted: look });
  const lookIfGroup = (jobSet: Stored<JobSet>): void => {
    if (isGroup(jobSet)) controller.enqueue(namespaceOf(jobSet.metadata));
  };
  jobSets.subscribe({
    added: lookIfGroup,
    updated: (jobSet, old) => {
      if (!isGroup(old)) lookIfGroup(jobSet);
    },
  });
  return {
    stop: async () => {
      await Promise.all([controller.stop(), maps.stop()]);
    },
  };
}

class Publisher {
  readonly #options: HubAuthoritiesOptions;
  readonly #maps: Informer<ConfigMap>;
  /** The reported problem of each namespace, so that it is reported once. */
  readonly #told = new Map<string, string>();

  constructor(options: HubAuthoritiesOptions, maps: Informer<ConfigMap>) {
    this.#options = options;
    this.#maps = maps;
  }

  async publish(namespace: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const groups = this.#groupsOf(namespace);
    if (groups.length === 0) {
      this.#told.delete(namespace);
      return undefined;
    }
    const found = this.#maps.store.get(`${namespace}/${HUB_AUTHORITIES_NAME}`);
    const wanted = mapOf(namespace, this.#options.access().authorities);
    const problem =
      found === undefined || isOurs(found)
        ? await this.#write(found, wanted, signal)
        : `it does not belong to Lockstep, so it stays unchanged; delete it, or label it ${HUB_AUTHORITIES_SELECTOR} to let Lockstep replace it`;
    if (problem === undefined) this.#told.delete(namespace);
    else this.#tell(namespace, groups, problem);
    return { requeueAfterMs: REVIEW_INTERVAL_MS };
  }

  #groupsOf(namespace: string): readonly Stored<JobSet>[] {
    const groups: Stored<JobSet>[] = [];
    for (const jobSet of this.#options.jobSets.store.byIndex(GROUPS_BY_NAMESPACE, namespace)) {
      groups.push(jobSet);
      if (groups.length === MAX_TOLD) break;
    }
    return groups;
  }

  /** Undefined, or why it cannot be written, now or ever. */
  async #write(
    found: Stored<ConfigMap> | undefined,
    wanted: ConfigMap,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { client, clock } = this.#options;
    if (found !== undefined && holdsSame(found, wanted)) return undefined;
    try {
      if (found === undefined) await client.create(CONFIG_MAPS, wanted, { signal });
      else {
        const metadata = { ...wanted.metadata, resourceVersion: found.metadata.resourceVersion };
        await client.update(CONFIG_MAPS, { ...wanted, metadata }, { signal });
      }
      await sleep(clock, 1000 / WRITES_PER_SECOND, signal);
      return undefined;
    } catch (error) {
      // The namespace has gone, or the watch is about to show the object.
      if (isReason(error, 'NotFound', 'AlreadyExists')) return undefined;
      if (error instanceof ApiStatusError && isReason(error, 'Forbidden', 'Invalid')) {
        return error.message;
      }
      throw error;
    }
  }

  #tell(namespace: string, groups: readonly Stored<JobSet>[], problem: string): void {
    if (this.#told.get(namespace) === problem) return;
    this.#told.set(namespace, problem);
    const { events, logger } = this.#options;
    logger.warn('the authorities of the hub are not published', { namespace, why: problem });
    for (const group of groups) {
      events.record({
        regarding: referenceTo(JOBSETS, group),
        type: 'Warning',
        reason: 'HubAuthoritiesNotPublished',
        action: 'Publishing',
        note: `agents would not follow a change of the hub's authorities: ConfigMap ${HUB_AUTHORITIES_NAME}: ${problem}`,
      });
    }
  }
}

function isOurs({ metadata: { labels = {} } }: ConfigMap): boolean {
  return Object.entries(HUB_AUTHORITIES_LABELS).every(
    ([key, value]) => ownMember(labels, key) === value,
  );
}

function mapOf(namespace: string, authorities: string): ConfigMap {
  return {
    ...typeMetaOf(CONFIG_MAPS),
    metadata: { namespace, name: HUB_AUTHORITIES_NAME, labels: HUB_AUTHORITIES_LABELS },
    data: { [HUB_AUTHORITIES_KEY]: authorities },
  };
}

function holdsSame(found: ConfigMap, wanted: ConfigMap): boolean {
  return found.data?.[HUB_AUTHORITIES_KEY] === wanted.data?.[HUB_AUTHORITIES_KEY];
}

/** Longer than any value that we write. */
const MAX_KEPT_LENGTH = 64 * 1024;

/** Drops other keys, because a tenant may put a megabyte into each. */
function withOwnKeyOnly(map: Stored<ConfigMap>): Stored<ConfigMap> {
  const { annotations: _, labels = {}, ...metadata } = withoutManagedFields(map).metadata;
  const held = ownMember(map.data ?? {}, HUB_AUTHORITIES_KEY) ?? '';
  const kept = Object.entries(labels).filter(([key]) => Object.hasOwn(HUB_AUTHORITIES_LABELS, key));
  return {
    apiVersion: map.apiVersion,
    kind: map.kind,
    metadata: { ...metadata, labels: Object.fromEntries(kept) },
    ...(held.length <= MAX_KEPT_LENGTH && { data: { [HUB_AUTHORITIES_KEY]: held } }),
  };
}
