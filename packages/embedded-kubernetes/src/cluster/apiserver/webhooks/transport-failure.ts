/** Texts for failed connections to webhooks. */
import type { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';

/** Why no answer came, in the words of the API server where it has some. */
export function transportFailureText(
  { code = '', message }: TransportError,
  { server }: WebhookEndpoint,
): string {
  const { host, hostname, port } = new URL(server);
  const address = port === '' ? `${host}:443` : host;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'ETIMEDOUT':
      return `dial tcp ${address}: i/o timeout`;
    case 'ECONNRESET':
      return 'EOF';
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'CERT_SIGNATURE_FAILURE':
      return `${UNVERIFIED}: x509: certificate signed by unknown authority`;
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `${UNVERIFIED}: x509: certificate has expired or is not yet valid`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${UNVERIFIED}: x509: certificate is not valid for ${hostname}: ${message}`;
    default:
      return message;
  }
}

const UNVERIFIED = 'tls: failed to verify certificate';
