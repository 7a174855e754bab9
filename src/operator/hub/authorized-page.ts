/**
 * A page for authorized clients, guarded as components of Kubernetes guard their metrics. A client
 * sends a token. The API server names its user, and says whether that user may read the page.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import { SUBJECT_ACCESS_REVIEWS } from '@lockstep/kube/objects/subject-access-review.ts';
import { TOKEN_REVIEWS } from '@lockstep/kube/objects/token-review.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { ExpiringMap } from '@lockstep/kube/runtime/expiring-map.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpHandler, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { textResponse } from '@lockstep/kube/runtime/text-response.ts';

export interface PageReaders {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long an answer, and so a revoked right, is used: clients come every few seconds. */
const ACCESS_LIFETIME_MS = 60_000;
/** The most remembered readers, and separately the most others. */
const MAX_VERDICTS = 256;
/** Limits how many unknown tokens are passed on to the API server at a time. */
const MAX_UNDER_WAY = 8;
const REVIEW_TIMEOUT_MS = 5_000;

/** 401 for a token that the cluster does not know, 403 for a user who may not `get` the path. */
export function authorizedPage(page: HttpHandler, readers: PageReaders): HttpHandler {
  // Kept apart, so that many strangers do not displace readers.
  const allowed = new ExpiringMap<Access>(readers.clock, MAX_VERDICTS);
  const refused = new ExpiringMap<Access>(readers.clock, MAX_VERDICTS);
  let underWay = 0;
  return async (request) => {
    const { pathname } = new URL(request.path, 'http://localhost');
    const token = /^Bearer (\S+)$/i.exec(request.headers['authorization'] ?? '')?.[1];
    if (token === undefined) return UNAUTHORIZED;
    const key = `${pathname} ${token}`;
    const known = allowed.get(key) ?? refused.get(key);
    if (known !== undefined) return answer(known, page, request);
    if (underWay >= MAX_UNDER_WAY) return BUSY;
    underWay++;
    try {
      const access = await withDeadline(
        readers.clock,
        REVIEW_TIMEOUT_MS,
        request.signal,
        (signal) => review(readers.client, { token, path: pathname, signal }),
      );
      (access === 'Allowed' ? allowed : refused).set(key, access, ACCESS_LIFETIME_MS);
      return await answer(access, page, request);
    } catch (error) {
      readers.logger.warn('a reader of a page cannot be reviewed', {
        path: pathname,
        err: String(error),
      });
      return textResponse(500, 'the API server does not say who may read this\n');
    } finally {
      underWay--;
    }
  };
}

type Access = 'Allowed' | 'Unknown' | 'Denied';

async function answer(
  access: Access,
  page: HttpHandler,
  request: Parameters<HttpHandler>[0],
): Promise<HttpResponse> {
  switch (access) {
    case 'Allowed':
      return page(request);
    case 'Unknown':
      return UNAUTHORIZED;
    case 'Denied':
      return textResponse(403, 'forbidden\n');
  }
}

async function review(
  client: Client,
  { token, path, signal }: { token: string; path: string; signal: AbortSignal },
): Promise<Access> {
  const whose = await client.create(
    TOKEN_REVIEWS,
    { ...typeMetaOf(TOKEN_REVIEWS), metadata: {}, spec: { token } },
    { signal },
  );
  const { authenticated, user } = whose.status ?? {};
  if (authenticated !== true || user?.username === undefined) return 'Unknown';
  const { username, uid, groups, extra } = user;
  const may = await client.create(
    SUBJECT_ACCESS_REVIEWS,
    {
      ...typeMetaOf(SUBJECT_ACCESS_REVIEWS),
      metadata: {},
      spec: {
        user: username,
        ...defined({ uid, groups, extra }),
        nonResourceAttributes: { path, verb: 'get' },
      },
    },
    { signal },
  );
  return may.status?.allowed === true ? 'Allowed' : 'Denied';
}

const UNAUTHORIZED = textResponse(
  401,
  'unauthorized: show a token of the cluster, "Authorization: Bearer ..."\n',
  { 'www-authenticate': 'Bearer' },
);

const BUSY = textResponse(429, 'too many tokens are being reviewed\n', { 'retry-after': '1' });
