/** Issues and verifies tokens of service accounts. */

import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { unauthorized } from '@lockstep/kube/status-errors.ts';
import { textAt } from '../resources/api-object.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import { collectionKey } from '../resources/served-resource.ts';
import { type Authenticator, authenticated, bearerToken, type User } from './authentication.ts';

/** The server's ES256 key, see `adapters/token-signer.ts`. */
export interface TokenSigner {
  readonly keyId: string;
  readonly publicKey: {
    readonly kty: 'EC';
    readonly crv: 'P-256';
    readonly x: string;
    readonly y: string;
  };
  sign(data: Uint8Array): Uint8Array;
  verify(data: Uint8Array, signature: Uint8Array): boolean;
}

/** The issuer of the tokens, and their audience if none is requested. */
export const TOKEN_ISSUER = 'https://kubernetes.default.svc';

/** The object that a token is bound to; without it the token is invalid. */
export interface BoundObject {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface TokenGrant {
  readonly namespace: string;
  readonly serviceAccount: { readonly name: string; readonly uid: string };
  readonly audiences: readonly string[];
  readonly expiresAtMs: number;
  readonly boundTo: BoundObject | undefined;
  /** Unique for each token. */
  readonly id: string;
}

/** Makes a JSON Web Token in the form that the API server gives to Pods. */
export function issueToken(signer: TokenSigner, grant: TokenGrant, nowMs: number): string {
  const { namespace, serviceAccount, boundTo } = grant;
  const now = Math.floor(nowMs / 1000);
  const bound = boundTo === undefined ? {} : { [boundTo.kind.toLowerCase()]: named(boundTo) };
  const claims = {
    aud: grant.audiences,
    exp: Math.floor(grant.expiresAtMs / 1000),
    iat: now,
    iss: TOKEN_ISSUER,
    jti: grant.id,
    'kubernetes.io': { namespace, ...bound, serviceaccount: named(serviceAccount) },
    nbf: now,
    sub: `system:serviceaccount:${namespace}:${serviceAccount.name}`,
  };
  const signed = `${encodePart({ alg: 'ES256', kid: signer.keyId, typ: 'JWT' })}.${encodePart(claims)}`;
  const signature = signer.sign(Buffer.from(signed));
  return `${signed}.${Buffer.from(signature).toString('base64url')}`;
}

export interface TokenVerifier {
  /**
   * The user of one of our tokens that is for one of `audiences`; undefined for a text that is not
   * a token of this server. Throws 401 with a reason for an invalid or expired one.
   */
  verify(token: string, audiences: readonly string[]): User | undefined;
}

/**
 * Also checks that the account, and the Pod that a token is bound to, still exist with the same
 * UIDs.
 */
export function createTokenVerifier(
  signer: TokenSigner,
  resources: ResourceTable,
  clock: Clock,
): TokenVerifier {
  return {
    verify(token, audiences) {
      const claims = signedClaims(signer, token);
      if (claims === undefined) return undefined;
      checkTime(claims, clock.now());
      const audience = Array.isArray(claims['aud']) ? claims['aud'] : [];
      if (!audiences.some((wanted) => audience.includes(wanted))) {
        throw unauthorized('the token is for another audience');
      }
      return userOf(claims, resources);
    },
  };
}

/** Accepts service account tokens whose audience is the API server. */
export function byServiceAccountToken(verifier: TokenVerifier): Authenticator {
  return (request) => {
    const token = bearerToken(request);
    return token === undefined ? undefined : verifier.verify(token, [TOKEN_ISSUER]);
  };
}

/** Our tokens are never longer. */
const MAX_TOKEN_LENGTH = 16_384;

function signedClaims(signer: TokenSigner, token: string): JsonObject | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const [head = '', body = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || signature === '') return undefined;
  const { alg, kid } = decodePart(head);
  if (alg !== 'ES256' || kid !== signer.keyId) return undefined;
  const isSigned = signer.verify(
    Buffer.from(`${head}.${body}`),
    Buffer.from(signature, 'base64url'),
  );
  return isSigned ? decodePart(body) : undefined;
}

function checkTime(claims: JsonObject, nowMs: number): void {
  const { exp, nbf, iss } = claims;
  if (iss !== TOKEN_ISSUER) throw unauthorized('the token is of another issuer');
  if (typeof exp !== 'number' || exp * 1000 <= nowMs) throw unauthorized('the token has expired');
  if (typeof nbf === 'number' && nbf * 1000 > nowMs + CLOCK_SKEW_MS) {
    throw unauthorized('the token is not valid yet');
  }
}

/** Times in tokens are whole seconds. */
const CLOCK_SKEW_MS = 1_000;

const BOUND_KINDS: readonly (readonly [string, string])[] = [
  ['pod', 'pods'],
  ['secret', 'secrets'],
  ['node', 'nodes'],
];

function userOf(claims: JsonObject, resources: ResourceTable): User {
  const about = claims['kubernetes.io'];
  const namespace = textAt(about, 'namespace');
  const name = textAt(about, 'serviceaccount', 'name');
  const uid = textAt(about, 'serviceaccount', 'uid');
  requirePresent(resources, 'serviceaccounts', namespace, { name, uid });
  const extra: Record<string, readonly string[]> = {
    'authentication.kubernetes.io/credential-id': [`JTI=${textAt(claims, 'jti')}`],
  };
  for (const [kind, plural] of BOUND_KINDS) {
    const bound = { name: textAt(about, kind, 'name'), uid: textAt(about, kind, 'uid') };
    if (bound.name === '') continue;
    requirePresent(resources, plural, kind === 'node' ? undefined : namespace, bound);
    extra[`authentication.kubernetes.io/${kind}-name`] = [bound.name];
    extra[`authentication.kubernetes.io/${kind}-uid`] = [bound.uid];
  }
  return authenticated({
    username: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra,
  });
}

function requirePresent(
  resources: ResourceTable,
  plural: string,
  namespace: string | undefined,
  at: { readonly name: string; readonly uid: string },
): void {
  const entry = resources.core(plural).collection.get(collectionKey(namespace, at.name));
  if (entry?.object.metadata.uid === at.uid) return;
  throw unauthorized(`the token is bound to ${plural} ${at.name}, which is gone`);
}

function named(of: { readonly name: string; readonly uid: string }): JsonObject {
  return { name: of.name, uid: of.uid };
}

function encodePart(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decodePart(text: string): JsonObject {
  return parsedObject(Buffer.from(text, 'base64url').toString()) ?? {};
}
