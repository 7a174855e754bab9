import { nearest } from '../../kube/edit-distance.ts';
import type { StringMap } from '../../kube/meta.ts';
import type { DefaultedSpec } from '../defaults.ts';
import type { JobSet } from '../jobset.ts';
import { JOBSET_ANNOTATIONS, OWN_PREFIX, POD_TEMPLATE_ANNOTATIONS } from '../names.ts';

/** An API server shows a client only a limited part of all warnings. */
const MAX_WARNINGS = 5;

/** Warns of our keys in places where they have no effect. */
export function unknownAnnotationWarnings(
  { metadata }: JobSet,
  { replicatedJobs }: DefaultedSpec,
): readonly string[] {
  return [
    ...unknownIn('metadata', metadata.annotations, JOBSET_ANNOTATIONS),
    ...replicatedJobs.flatMap(({ template }, index) => {
      const path = `spec.replicatedJobs[${index}].template`;
      const pod = template.spec.template.metadata?.annotations;
      return [
        ...unknownIn(`${path}.metadata`, template.metadata?.annotations, []),
        ...unknownIn(`${path}.spec.template.metadata`, pod, POD_TEMPLATE_ANNOTATIONS),
      ];
    }),
  ].slice(0, MAX_WARNINGS);
}

function unknownIn(
  path: string,
  annotations: StringMap | undefined,
  known: readonly string[],
): readonly string[] {
  return Object.keys(annotations ?? {})
    .filter((key) => key.startsWith(OWN_PREFIX) && !known.includes(key))
    .slice(0, MAX_WARNINGS)
    .map((key) => `${path}.annotations[${key}] has no effect: ${advice(key)}`);
}

function advice(key: string): string {
  if (JOBSET_ANNOTATIONS.includes(key)) return 'it belongs in the metadata of the JobSet';
  if (POD_TEMPLATE_ANNOTATIONS.includes(key)) return 'it belongs in a Pod template';
  const known = nearest(key, [...JOBSET_ANNOTATIONS, ...POD_TEMPLATE_ANNOTATIONS]);
  return `the key is unknown; did you mean ${known}?`;
}
