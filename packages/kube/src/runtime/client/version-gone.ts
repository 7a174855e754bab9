import { ApiStatusError } from '../../status.ts';

/**
 * Whether an API server says that a resourceVersion cannot be used for a list or a watch: its
 * history is gone, or it belongs to another history, as after a restore of the server.
 */
export function isVersionGone(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  const causes = error.status.details?.causes ?? [];
  return error.code === 410 || causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
}
