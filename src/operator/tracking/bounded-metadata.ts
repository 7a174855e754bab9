/**
 * The kept part of the metadata of a Pod, a volume claim or a Job: only names and values that the
 * operator reads. Any user may create as many of these objects as the quota of a namespace allows,
 * with annotations, finalizers and owners of a megabyte. Members of a group share equal parts.
 */

import type { PartialObjectMetadata, Stored, StringMap } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX, JOB_TRACKING_FINALIZER } from '@lockstep/kube/objects/job.ts';
import {
  AGENT_STARTS,
  EPOCH,
  EXCLUSIVE_TOPOLOGY,
  IN_PLACE_RESTART_ATTEMPT,
  JOB_KEY,
  JOBSET_NAME,
  JOBSET_UID,
  LOST_NODE_DEADLINE,
  NODE_SELECTOR_STRATEGY,
  NOTICE,
} from '../../jobset/names.ts';

const LABELS = [JOBSET_NAME, JOBSET_UID, JOB_KEY];
const ANNOTATIONS = [
  JOBSET_NAME,
  EXCLUSIVE_TOPOLOGY,
  NODE_SELECTOR_STRATEGY,
  COMPLETION_INDEX,
  EPOCH,
  IN_PLACE_RESTART_ATTEMPT,
  AGENT_STARTS,
  NOTICE,
  LOST_NODE_DEADLINE,
];
/** The operator reads no longer values, and the beginning is enough to say so. */
const MAX_VALUE_CHARACTERS = 1_024;
/** The limit for names and UIDs, which the API server made. */
const MAX_NAME_CHARACTERS = 253;
/**
 * Values of one cache that its objects share. Beyond this number all are forgotten, which costs only
 * memory.
 */
const MAX_SHARED = 4_096;
/** The limit for the length of shared values as JSON. */
const MAX_SHARED_CHARACTERS = 4 * 1024 * 1024;

/** Returns an equal earlier value, or this one. */
export type Share = <T>(value: T) => T;

/** The shared values of one cache. */
export function sharedValues(): Share {
  const known = new Map<string, unknown>();
  let characters = 0;
  return <T>(value: T): T => {
    const text = JSON.stringify(value);
    // Equal texts mean equal values.
    const same = known.get(text) as T | undefined;
    if (same !== undefined) return same;
    characters += text.length;
    if (known.size >= MAX_SHARED || characters > MAX_SHARED_CHARACTERS) {
      known.clear();
      characters = text.length;
    }
    known.set(text, value);
    return value;
  };
}

/** The transformation of one cache, which keeps these labels too. */
export function boundedMetadata(
  labelsToo: readonly string[] = [],
  shared = sharedValues(),
): (object: Stored<PartialObjectMetadata>) => Stored<PartialObjectMetadata> {
  const keptLabels = [...LABELS, ...labelsToo];
  return ({ apiVersion, kind, metadata }) => {
    const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } =
      metadata;
    const { labels, annotations, finalizers, ownerReferences } = metadata;
    const isTracked = finalizers?.includes(JOB_TRACKING_FINALIZER) === true;
    return {
      apiVersion: shared(apiVersion),
      kind: shared(kind),
      metadata: {
        name,
        uid,
        resourceVersion,
        creationTimestamp: shared(creationTimestamp),
        ...(namespace === undefined ? {} : { namespace: shared(namespace) }),
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
        ...(labels === undefined ? {} : { labels: shared(valuesOf(keptLabels, labels)) }),
        ...(annotations === undefined ? {} : { annotations: valuesOf(ANNOTATIONS, annotations) }),
        ...(isTracked ? { finalizers: TRACKED } : {}),
        ...(ownerReferences === undefined
          ? {}
          : { ownerReferences: shared(ownerReferences.filter(isController)) }),
      },
    };
  };
}

const TRACKED = [JOB_TRACKING_FINALIZER];

function isController({
  controller,
  apiVersion,
  kind,
  name,
  uid,
}: NonNullable<PartialObjectMetadata['metadata']['ownerReferences']>[number]): boolean {
  const texts = [apiVersion, kind, name, uid];
  return controller === true && texts.every((text) => text.length <= MAX_NAME_CHARACTERS);
}

export function valuesOf(names: readonly string[], map: StringMap): StringMap {
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = map[name];
    if (value !== undefined) values[name] = beginningOf(value);
  }
  return values;
}

/** Copies the beginning: a slice would keep the whole text in memory. */
export function beginningOf(text: string, maxCharacters = MAX_VALUE_CHARACTERS): string {
  if (text.length <= maxCharacters) return text;
  return Buffer.from(text.slice(0, maxCharacters)).toString();
}
