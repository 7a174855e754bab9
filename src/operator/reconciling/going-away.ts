/** Recognizes errors from objects that are being deleted. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { ApiStatusError, isNamespaceGoing } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';

/**
 * The object that was deleted while the controller worked on a JobSet, which goes with it. No retry
 * helps. The watch reports the end of the JobSet itself.
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
