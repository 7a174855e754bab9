/**
 * The kept part of a Pod or a volume claim with the label of a JobSet: only names and values that
 * the operator reads. Any user may create such objects, with annotations, finalizers and owners of
 * a megabyte, and as many as the quota of a namespace allows. Members of a group share equal parts.
 */
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
import type { PartialObjectMetadata, Stored, StringMap } from '../../kube/meta.ts';
import { COMPLETION_INDEX, JOB_TRACKING_FINALIZER } from '../../kube/objects/job.ts';

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
 * Values of one cache that its objects share; beyond it all are forgotten, which costs memory
 * alone.
 */
const MAX_SHARED = 4_096;

/** The transformation of one cache, which keeps these labels too. */
export function boundedMetadata(
  labelsToo: readonly string[] = [],
): (object: Stored<PartialObjectMetadata>) => Stored<PartialObjectMetadata> {
  const keptLabels = [...LABELS, ...labelsToo];
  const known = new Map<string, unknown>();
  const shared = <T>(value: T): T => {
    const text = JSON.stringify(value);
    // The text says all that the value is.
    const same = known.get(text) as T | undefined;
    if (same !== undefined) return same;
    if (known.size >= MAX_SHARED) known.clear();
    known.set(text, value);
    return value;
  };
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

function valuesOf(names: readonly string[], map: StringMap): StringMap {
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = map[name];
    if (value !== undefined) values[name] = beginningOf(value);
  }
  return values;
}

/** A copy: a slice would keep all of the text that it is of. */
function beginningOf(text: string): string {
  if (text.length <= MAX_VALUE_CHARACTERS) return text;
  return Buffer.from(text.slice(0, MAX_VALUE_CHARACTERS)).toString();
}
