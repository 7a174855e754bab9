/** What the server tells unauthenticated clients: version and health. */
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { jsonResponse, textResponse } from '../http/request.ts';

/** The Kubernetes version whose API is served; clients decide by it which features to use. */
export const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3+lockstep',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: '',
};

/** Answers the paths that need no authentication. */
export function publicInfo(path: string, query: URLSearchParams): HttpResponse | undefined {
  const [, endpoint = '', check] = path.split('/');
  switch (endpoint) {
    case 'version':
      return check === undefined || check === '' ? jsonResponse(200, VERSION) : undefined;
    case 'healthz':
    case 'livez':
    case 'readyz':
      return health(endpoint, check, query);
    default:
      return undefined;
  }
}

/** Any answer means healthy: the server answers once it has loaded everything, until it closes. */
const CHECKS: readonly string[] = ['ping', 'storage'];

function health(
  endpoint: string,
  check: string | undefined,
  query: URLSearchParams,
): HttpResponse | undefined {
  if (check !== undefined && check !== '') {
    return CHECKS.includes(check) ? textResponse(200, 'ok') : undefined;
  }
  if (!query.has('verbose')) return textResponse(200, 'ok');
  const lines = CHECKS.map((name) => `[+]${name} ok\n`);
  return textResponse(200, `${lines.join('')}${endpoint} check passed\n`);
}
