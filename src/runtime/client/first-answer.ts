import { withDeadline } from '../deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Transport } from '../ports/transport.ts';
import { wholeBody } from './response-body.ts';

/** A firewall that swallows packets would otherwise keep us for a minute. */
export const FIRST_ANSWER_TIMEOUT_MS = 15_000;

/** A version is some hundred bytes; somebody else's page may have no end. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Of `/version`, as it came. */
export interface FirstAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Resolves once the server has answered, whatever it says. A client repeats what fails, for minutes; here the
 * first failure tells, as `TransportError` or `DeadlineError`.
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
