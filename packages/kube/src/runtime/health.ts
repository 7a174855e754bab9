import type { HttpHandler, HttpResponse } from './ports/transport.ts';
import { textResponse } from './text-response.ts';

/**
 * Serves `/healthz`, `/livez` and `/readyz` as Kubernetes components do: 200 `ok`, or 500 with one
 * line per check. `?verbose` always shows the lines, `?exclude=NAME` leaves a check out, and
 * `/readyz/NAME` asks for one alone. `/healthz` is the old name of `/livez`.
 */
export interface HealthChecks {
  /** They fail only if a restart of the process would help. */
  readonly live?: readonly HealthCheck[];
  /** They fail while the process cannot do its work. */
  readonly ready?: readonly HealthCheck[];
  /** Last segments of the paths in place of `healthz` and `readyz`. */
  readonly names?: { readonly live?: string | undefined; readonly ready?: string | undefined };
}

export interface HealthCheck {
  /** One path segment, such as `informer-sync`. */
  readonly name: string;
  /** Undefined, or what is wrong. It answers from memory, so that a probe never waits. */
  readonly problem: () => string | undefined;
}

const NO_SNIFFING = { 'x-content-type-options': 'nosniff' };

const PING: HealthCheck = { name: 'ping', problem: () => undefined };

/** Serves the checks; any other path is a 404. */
export function healthHandler(checks: HealthChecks): HttpHandler {
  const live = [PING, ...(checks.live ?? [])];
  const ready = [...live, ...(checks.ready ?? [])];
  const endpoints = new Map([
    ['livez', live],
    [checks.names?.live ?? 'healthz', live],
    [checks.names?.ready ?? 'readyz', ready],
  ]);
  return ({ path }) => {
    const url = new URL(path, 'http://localhost');
    const [, endpoint = '', name, ...more] = url.pathname.split('/');
    const all = endpoints.get(endpoint);
    const wanted = name === undefined ? all : all?.filter((check) => check.name === name);
    if (wanted === undefined || (name !== undefined && wanted.length === 0) || more.length > 0) {
      return Promise.resolve(textResponse(404, '404 page not found\n', NO_SNIFFING));
    }
    const excluded = new Set(url.searchParams.getAll('exclude'));
    const isVerbose = url.searchParams.has('verbose');
    return Promise.resolve(report(endpoint, wanted, excluded, isVerbose));
  };
}

function report(
  endpoint: string,
  checks: readonly HealthCheck[],
  excluded: ReadonlySet<string>,
  isVerbose: boolean,
): HttpResponse {
  let lines = '';
  let failed = 0;
  for (const check of checks) {
    const problem = excluded.has(check.name) ? undefined : check.problem();
    if (problem !== undefined) failed++;
    if (excluded.has(check.name)) lines += `[+]${check.name} excluded: ok\n`;
    else if (problem === undefined) lines += `[+]${check.name} ok\n`;
    else lines += `[-]${check.name} failed: ${problem}\n`;
  }
  if (failed > 0) return textResponse(500, `${lines}${endpoint} check failed\n`, NO_SNIFFING);
  return textResponse(200, isVerbose ? `${lines}${endpoint} check passed\n` : 'ok', NO_SNIFFING);
}
