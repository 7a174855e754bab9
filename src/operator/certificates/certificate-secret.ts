/** The layout of certificates in their Secret. */
import { ownMember } from '@lockstep/kube/json/json-value.ts';
import type { ObjectMeta } from '@lockstep/kube/meta.ts';
import { SECRETS, type Secret } from '@lockstep/kube/objects/core.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import type { WebhookCertificates } from './certificates.ts';

/**
 * `tls.crt` and `tls.key` serve, `ca.crt` holds all trusted authorities, newest first, and `ca.key`
 * belongs to the first of them.
 */
export function certificatesIn({ data = {} }: Secret): WebhookCertificates | undefined {
  const text = (key: string): string =>
    Buffer.from(ownMember(data, key) ?? '', 'base64').toString();
  const [newest, ...older] = text('ca.crt').match(PEM_CERTIFICATE) ?? [];
  if (newest === undefined) return undefined;
  return {
    authorities: [newest, ...older],
    authorityKey: text('ca.key'),
    serving: { certificate: text('tls.crt'), key: text('tls.key') },
  };
}

/** The Secret with these certificates in it; other contents of `existing` stay. */
export function secretOf(
  at: { readonly namespace: string; readonly name: string },
  certificates: WebhookCertificates,
  existing?: Secret,
): Secret {
  const { serving, authorityKey } = certificates;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const metadata: ObjectMeta = existing?.metadata ?? at;
  return {
    ...typeMetaOf(SECRETS),
    type: 'Opaque',
    ...existing,
    metadata,
    data: {
      ...existing?.data,
      'ca.crt': base64(bundleOf(certificates)),
      'ca.key': base64(authorityKey),
      'tls.crt': base64(serving.certificate),
      'tls.key': base64(serving.key),
    },
  };
}

/** The authorities as one PEM text: the `caBundle`, before its base64. */
export function bundleOf({ authorities }: WebhookCertificates): string {
  return authorities.map((authority) => `${authority.trimEnd()}\n`).join('');
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\n?/g;
