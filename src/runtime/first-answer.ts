import { withDeadline } from './deadline.ts';
import type { Clock } from './ports/clock.ts';
import type { Transport } from './ports/transport.ts';
import { wholeBody } from './response-body.ts';

/** A firewall that swallows packets would otherwise keep us for a minute. */
export const FIRST_ANSWER_TIMEOUT_MS = 15_000;

/**
 * Resolves once the server has answered something. A client repeats what fails, for minutes; here the
 * first failure tells, as `TransportError` or `DeadlineError`.
 */
export async function firstAnswer(
  transport: Transport,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  await withDeadline(clock, FIRST_ANSWER_TIMEOUT_MS, signal, async (limited) => {
    const request = { method: 'GET', path: '/version', headers: {}, signal: limited } as const;
    const { body } = await transport.send(request);
    await wholeBody(body);
  });
}
