import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import type { Stored } from '../../kube/meta.ts';
import { ApiStatusError, isNamespaceGoing } from '../../kube/status.ts';

/**
 * What was deleted, by somebody else, while the controller worked on a JobSet: no retry helps, and what
 * is left goes with it. The watch tells when the JobSet itself is gone.
 */
export function whatGoesAway(
  error: unknown,
  { metadata }: Stored<JobSet>,
): 'Namespace' | 'JobSet' | undefined {
  if (isNamespaceGoing(error)) return 'Namespace';
  if (!(error instanceof ApiStatusError) || error.reason !== 'NotFound') return undefined;
  const { kind, name } = error.status.details ?? {};
  return kind === JOBSETS.plural && name === metadata.name ? 'JobSet' : undefined;
}
