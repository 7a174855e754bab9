/** Verifies signatures with JSON Web Keys. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { SignatureKey } from '../../ports/signature-key.ts';

/**
 * A key of a JSON Web Key Set (RFC 7517) that signs tokens of service accounts: API servers use RSA
 * or elliptic curves. Undefined for a key of another kind, or an invalid one.
 */
export function signatureKey(key: Readonly<Record<string, unknown>>): SignatureKey | undefined {
  const algorithm = ALGORITHMS.get(algorithmOf(key));
  if (algorithm === undefined) return undefined;
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey({ key, format: 'jwk' });
  } catch {
    // It may be of a kind that this machine does not support.
    return undefined;
  }
  const good = new Set<string>();
  return {
    algorithm: algorithmOf(key),
    verify: (data, signature) => {
      const name = createHash('sha256').update(data).update(signature).digest('base64');
      if (good.has(name)) return true;
      const isGood = verify(
        algorithm,
        data,
        { key: publicKey, dsaEncoding: 'ieee-p1363' },
        signature,
      );
      if (isGood && good.size >= MAX_REMEMBERED) good.clear();
      if (isGood) good.add(name);
      return isGood;
    },
  };
}

/**
 * How many valid signatures are remembered, because an agent that returns has the same token. A
 * hash takes 5 us, a signature over an elliptic curve 200; each entry takes 100 bytes.
 */
const MAX_REMEMBERED = 32_768;

/** Hashes by the name of the signature's algorithm (RFC 7518). */
const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['RS256', 'sha256'],
  ['RS384', 'sha384'],
  ['RS512', 'sha512'],
  ['ES256', 'sha256'],
  ['ES384', 'sha384'],
  ['ES512', 'sha512'],
]);

const BY_CURVE: ReadonlyMap<unknown, string> = new Map([
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['P-521', 'ES512'],
]);

function algorithmOf({ alg, kty, crv }: Readonly<Record<string, unknown>>): string {
  if (typeof alg === 'string') return alg;
  return kty === 'RSA' ? 'RS256' : (BY_CURVE.get(crv) ?? '');
}
