import { ApiStatusError } from '../../kube/status.ts';

/**
 * Whether an API server says that a resourceVersion is of no use for a list or a watch: the history
 * since then is not there any more, or it is of another history, as after a restore of the server.
 */
export function isVersionGone(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  const causes = error.status.details?.causes ?? [];
  return error.code === 410 || causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
}
