import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { SignatureKey } from '@lockstep/kube/runtime/ports/signature-key.ts';

/** The Pod to which a token is bound. */
export interface PodClaim {
  readonly namespace: string;
  readonly podName: string;
  readonly podUid: string;
  readonly serviceAccount: string;
}

/** `problem` is for the sender of the token, and for the log; it shows no part of the token. */
export type TokenFinding =
  | { readonly kind: 'Pod'; readonly claim: PodClaim }
  | { readonly kind: 'Invalid'; readonly problem: string };

/** A JSON Web Token in its parts (RFC 7519), unchecked. */
export interface ParsedToken {
  readonly keyId: string;
  readonly algorithm: string;
  readonly claims: JsonObject;
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

/** Valid tokens are never longer. */
const MAX_TOKEN_LENGTH = 16_384;
/** Clocks of two machines may differ by some seconds. */
const CLOCK_SKEW_MS = 30_000;

/** Undefined for a text that is not such a token. */
export function parseToken(token: string): ParsedToken | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const [head = '', body = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || signature === '') return undefined;
  const header = decoded(head);
  const claims = decoded(body);
  if (header === undefined || claims === undefined) return undefined;
  return {
    keyId: textOf(header['kid']),
    algorithm: textOf(header['alg']),
    claims,
    signed: Buffer.from(`${head}.${body}`),
    signature: Buffer.from(signature, 'base64url'),
  };
}

/** Checks a token against the key that it names, if there is such a key. */
export function checkToken(
  token: ParsedToken,
  key: SignatureKey | undefined,
  expected: { readonly issuer: string; readonly audience: string; readonly nowMs: number },
): TokenFinding {
  if (key === undefined) return invalid('it is signed by a key that this cluster does not have');
  if (key.algorithm !== token.algorithm || !key.verify(token.signed, token.signature)) {
    return invalid('its signature is wrong');
  }
  const { iss, aud, exp, nbf } = token.claims;
  if (iss !== expected.issuer) return invalid('it has another issuer');
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(expected.audience)) return invalid('it is for another audience');
  if (typeof exp !== 'number' || exp * 1000 <= expected.nowMs) return invalid('it has expired');
  if (typeof nbf === 'number' && nbf * 1000 > expected.nowMs + CLOCK_SKEW_MS) {
    return invalid('it is not valid yet');
  }
  return podOf(token.claims);
}

export function invalid(problem: string): TokenFinding {
  return { kind: 'Invalid', problem };
}

function podOf(claims: JsonObject): TokenFinding {
  const about = memberOf(claims, 'kubernetes.io');
  const pod = memberOf(about, 'pod');
  const claim: PodClaim = {
    namespace: textOf(about['namespace']),
    podName: textOf(pod['name']),
    podUid: textOf(pod['uid']),
    serviceAccount: textOf(memberOf(about, 'serviceaccount')['name']),
  };
  if (claim.podName === '' || claim.podUid === '') return invalid('it is bound to no Pod');
  return { kind: 'Pod', claim };
}

function memberOf(object: JsonObject, key: string): JsonObject {
  const member = object[key];
  return isJsonObject(member) ? member : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function decoded(part: string): JsonObject | undefined {
  return parsedObject(Buffer.from(part, 'base64url').toString());
}
