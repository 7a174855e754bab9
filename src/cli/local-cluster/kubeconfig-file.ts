/** Writes kubeconfig files. */
import { writeFileSync } from 'node:fs';
import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { stringify } from 'yaml';

/** Only its owner may read a file that holds a private key. */
const PRIVATE_MODE = 0o600;
const CONTEXT = 'lockstep';

export interface KubeconfigContent {
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly user: string;
  /** `default` by default. */
  readonly namespace?: string;
  readonly credentials: KeyPair | { readonly token: string };
}

/** Writes a kubeconfig with one cluster, one user and one context, mode 0600. */
export function writeKubeconfig(path: string, content: KubeconfigContent): void {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { server, authority, user: name, namespace = 'default', credentials } = content;
  const cluster = { server, 'certificate-authority-data': base64(authority) };
  const user =
    'token' in credentials
      ? credentials
      : {
          'client-certificate-data': base64(credentials.certificate),
          'client-key-data': base64(credentials.key),
        };
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: CONTEXT, cluster }],
    users: [{ name, user }],
    contexts: [{ name: CONTEXT, context: { cluster: CONTEXT, user: name, namespace } }],
    'current-context': CONTEXT,
  };
  writeFileSync(path, stringify(kubeconfig), { mode: PRIVATE_MODE });
}
