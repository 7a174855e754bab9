import type { HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';

/** The user who sent a request: `authentication.k8s.io UserInfo`. */
export interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Finds out who sent a request. Returns undefined for a kind of credentials that it does not know,
 * and throws 401 for credentials that it knows and that are wrong.
 */
export type Authenticator = (request: HttpRequest) => Promise<User | undefined> | User | undefined;
const AUTHENTICATED_GROUP = 'system:authenticated';

/** Trusts what TLS proved: the common name is the user, the organizations are the groups. */
export const byClientCertificate: Authenticator = (request) => {
  const certificate = request.peer?.certificate;
  if (certificate === undefined) return undefined;
  return authenticated({
    username: certificate.commonName,
    groups: [...certificate.organizations],
  });
};

/** Accepts fixed bearer tokens. */
export function byStaticToken(users: Readonly<Record<string, User>>): Authenticator {
  const known = new Map(Object.entries(users));
  return (request) => {
    const user = known.get(bearerToken(request) ?? '');
    return user === undefined ? undefined : authenticated(user);
  };
}

/** The token of an `Authorization: Bearer` header. */
export function bearerToken(request: Pick<HttpRequest, 'headers'>): string | undefined {
  const [scheme = '', token = ''] = (request.headers['authorization'] ?? '').trim().split(/ +/, 2);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

export function authenticated(user: User): User {
  return user.groups.includes(AUTHENTICATED_GROUP)
    ? user
    : { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
}
