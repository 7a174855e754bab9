/** Finds out whether a server answers at all. */
import { withDeadline } from '../deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Transport } from '../ports/transport.ts';
import { wholeBody } from './response-body.ts';

/** Short, because a firewall that drops packets would otherwise hold us up for a minute. */
export const FIRST_ANSWER_TIMEOUT_MS = 15_000;

/** A version has some hundred bytes, but another kind of server may send any amount. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** The answer to `/version`, unparsed. */
export interface FirstAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Resolves once the server has answered, with any status. A client would retry for minutes; here
 * the first failure rejects, with `TransportError` or `DeadlineError`.
 */
export async function firstAnswer(
  transport: Transport,
  clock: Clock,
  signal: AbortSignal,
): Promise<FirstAnswer> {
  return withDeadline(clock, FIRST_ANSWER_TIMEOUT_MS, signal, async (limited) => {
    const request = { method: 'GET', path: '/version', headers: {}, signal: limited } as const;
    const { status, body } = await transport.send(request);
    return { status, text: (await wholeBody(body, MAX_ANSWER_BYTES)).toString() };
  });
}
