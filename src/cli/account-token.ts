import { defined } from '@lockstep/kube/json/defined.ts';
import { SERVICE_ACCOUNTS, type TokenRequest } from '@lockstep/kube/objects/core.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';

/** Asks the API server for a token of a service account. */
export async function accountToken(
  client: Client,
  account: { readonly namespace: string; readonly name: string },
  spec: TokenRequest['spec'],
  signal?: AbortSignal,
): Promise<string> {
  const head = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {} };
  const request: TokenRequest = { ...head, spec };
  const options = defined({ signal });
  const { status } = await client.createSubresource(
    SERVICE_ACCOUNTS,
    account,
    'token',
    request,
    options,
  );
  return status?.token ?? '';
}
