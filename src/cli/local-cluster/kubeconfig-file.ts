/** Writes kubeconfig files. */
import { writeFileSync } from 'node:fs';
import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { stringify } from 'yaml';

/** Only its owner may read a file that holds a private key. */
const PRIVATE_MODE = 0o600;

export interface KubeconfigContent {
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly user: string;
  /** `default` by default. */
  readonly namespace?: string;
  readonly credentials: KeyPair;
}

/** Writes a kubeconfig with one cluster, one user and one context, mode 0600. */
export function writeKubeconfig(path: string, content: KubeconfigContent): void {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { namespace = 'default' } = content;
  const name = 'lockstep';
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          server: content.server,
          'certificate-authority-data': base64(content.authority),
        },
      },
    ],
    users: [
      {
        name: content.user,
        user: {
          'client-certificate-data': base64(content.credentials.certificate),
          'client-key-data': base64(content.credentials.key),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: content.user, namespace } }],
    'current-context': name,
  };
  writeFileSync(path, stringify(kubeconfig), { mode: PRIVATE_MODE });
}
