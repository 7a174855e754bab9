/** What a refusal of the API server means for what a page shows. */
import type { ApiStatusError } from '@lockstep/kube/status.ts';

/** Why the user sees none of these. */
export function refusalInWords(
  { code, message }: ApiStatusError,
  what: string,
  namespace: string | undefined,
): string {
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${namespace}`;
  if (code === 404 && what === 'JobSets') {
    return 'This cluster does not know JobSets: run "lockstep install". They appear here by themselves.';
  }
  if (code === 401) {
    return 'The cluster does not accept the credentials of the kubeconfig any more: log in again, and start this command anew.';
  }
  return code === 403
    ? `You may not list ${what} ${where}.`
    : `The ${what} ${where} cannot be read: ${message}.`;
}
