import { EXCLUSIVE_TOPOLOGY, JOBSET_NAME, OWN_PREFIX } from '../../jobset/names.ts';
import type { PartialObjectMetadata, Stored, StringMap } from '../../kube/meta.ts';

/** Those under which somebody here looks something up. */
const KNOWN_PREFIXES: readonly string[] = [
  prefixOf(JOBSET_NAME),
  prefixOf(EXCLUSIVE_TOPOLOGY),
  OWN_PREFIX,
  'batch.kubernetes.io/',
];
const MAX_KEYS = 64;
/** Longer ones mean nothing to anybody here, and the beginning is enough to say so. */
const MAX_VALUE_CHARACTERS = 1_024;
/** Of names and UIDs that the API server made. */
const MAX_NAME_CHARACTERS = 253;

/**
 * What is kept of an object that wears the label of a JobSet. Any user may make one, with annotations,
 * finalizers and owners of a megabyte, and as many as the quota of a namespace allows.
 */
export function withBoundedMetadata({
  apiVersion,
  kind,
  metadata,
}: Stored<PartialObjectMetadata>): Stored<PartialObjectMetadata> {
  const { managedFields: _, labels, annotations, finalizers, ownerReferences, ...rest } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...rest,
      ...(labels === undefined ? {} : { labels: knownOf(labels) }),
      ...(annotations === undefined ? {} : { annotations: knownOf(annotations) }),
      ...(finalizers === undefined ? {} : { finalizers: finalizers.filter(isKnown) }),
      ...(ownerReferences === undefined
        ? {}
        : {
            ownerReferences: ownerReferences.filter(
              ({ controller, apiVersion: of, kind: ofKind, name, uid }) =>
                controller === true &&
                [of, ofKind, name, uid].every((text) => text.length <= MAX_NAME_CHARACTERS),
            ),
          }),
    },
  };
}

function knownOf(map: StringMap): StringMap {
  const known = Object.entries(map).filter(([key]) => isKnown(key));
  return Object.fromEntries(
    known.slice(0, MAX_KEYS).map(([key, value]) => [key, value.slice(0, MAX_VALUE_CHARACTERS)]),
  );
}

function isKnown(key: string): boolean {
  return KNOWN_PREFIXES.some((prefix) => key.startsWith(prefix));
}

function prefixOf(key: string): string {
  return key.slice(0, key.indexOf('/') + 1);
}
