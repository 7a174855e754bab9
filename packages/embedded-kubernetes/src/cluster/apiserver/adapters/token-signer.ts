/** The key that signs tokens of service accounts, over Node's crypto. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import type { TokenSigner } from '../identity/service-account-tokens.ts';

/** JWTs join the two numbers of a signature, without ASN.1. */
const DSA_ENCODING = 'ieee-p1363';

/**
 * Signs tokens with ES256. Without a given key it makes one; its tokens are worthless after the
 * process has ended.
 */
export function createTokenSigner(privateKeyPem?: string): TokenSigner {
  const privateKey =
    privateKeyPem === undefined
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      : createPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(privateKey);
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const keyId = createHash('sha256').update(der).digest('base64url');
  return {
    keyId,
    publicKey: { kty: 'EC', crv: 'P-256', x, y },
    sign: (data) => sign('sha256', data, { key: privateKey, dsaEncoding: DSA_ENCODING }),
    verify: (data, signature) =>
      verify('sha256', data, { key: publicKey, dsaEncoding: DSA_ENCODING }, signature),
  };
}
