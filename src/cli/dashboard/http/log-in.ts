/** How a browser gets a session: with a token, or with the pass of an open page. */
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { jsonAnswer, loggedIn, refusal } from './answers.ts';
import { cookieName } from './guard.ts';
import { type Endpoint, foreignUser } from './peer-user.ts';
import { NO_SESSION, parseRenewal, type Sessions } from './sessions.ts';

export interface LogIn {
  readonly token: string;
  /** Cookie of the session that the browser has. */
  readonly session: string | undefined;
}

export function logIn(
  sessions: Sessions,
  { token, session }: LogIn,
  request: HttpRequest,
  server: Endpoint,
): HttpResponse {
  const { address = '', port } = request.peer ?? {};
  const stranger =
    port === undefined ? undefined : foreignUser({ peer: { address, port }, server });
  if (stranger !== undefined) {
    return refusal(request, 403, `This is not for user ${stranger} of this machine.`);
  }
  const exchange = sessions.exchange(token, session);
  if ('why' in exchange) return refusal(request, 401, exchange.why);
  const { cookie } = exchange;
  return loggedIn(request, cookie === session ? undefined : cookieText(server.port, cookie));
}

/**
 * A page at another name than the one that was printed may speak to another server: one of IPv6 has
 * the name `localhost` too. So it needs a new address.
 */
export function renewSession(
  sessions: Sessions,
  { body, headers }: HttpRequest,
  host: string,
  port: number,
): HttpResponse {
  const renewal = parseRenewal(Buffer.from(body ?? []).toString('utf8'));
  const renewed =
    renewal === undefined || headers['host'] !== host
      ? { why: NO_SESSION }
      : sessions.renew(renewal, host);
  return 'why' in renewed
    ? refusal({ headers }, 401, renewed.why)
    : jsonAnswer(200, {}, { 'set-cookie': cookieText(port, renewed.cookie) });
}

function cookieText(port: number, cookie: string): string {
  return `${cookieName(port)}=${cookie}; HttpOnly; SameSite=Strict; Path=/`;
}
