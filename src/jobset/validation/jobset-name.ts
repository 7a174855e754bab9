import type { ObjectMeta } from '@lockstep/kube/meta.ts';

/** The API server cuts a prefix to this length and appends 5 characters. */
const GENERATED_PREFIX_LIMIT = 58;
const SAMPLE_SUFFIX = 'abcde';

/**
 * The name from which names of Jobs and Pods are derived. A JobSet that gets its name from the
 * server has none at admission yet; a sample has the same length and letters.
 */
export function nameOrSample({ name = '', generateName = '' }: ObjectMeta): string {
  if (name !== '' || generateName === '') return name;
  return generateName.slice(0, GENERATED_PREFIX_LIMIT) + SAMPLE_SUFFIX;
}
