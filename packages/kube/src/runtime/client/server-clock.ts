/** What the header `Date` of an answer says about the clock of its server. */
import type { Clock } from '../ports/clock.ts';
import type { HttpRequest, Transport } from '../ports/transport.ts';
import { wholeBody } from './response-body.ts';

/** How far the clock of a server is ahead of this machine's. */
export interface ClockOffset {
  readonly aheadMs: number;
  readonly errorMs: number;
}

export interface TimedAnswer {
  readonly status: number;
  /** Undefined: the server did not tell the time. */
  readonly offset: ClockOffset | undefined;
}

/** The header has whole seconds, so the answer was made up to a second later. */
const DATE_STEP_MS = 1_000;
const MAX_BODY_BYTES = 1024 * 1024;

/** Asks, and compares the clocks. Rejects as the transport does. */
export async function timedAnswer(
  transport: Transport,
  clock: Clock,
  { path, signal }: Pick<HttpRequest, 'path' | 'signal'>,
): Promise<TimedAnswer> {
  const sentMs = clock.now();
  const { status, headers, body } = await transport.send({
    method: 'GET',
    path,
    headers: {},
    signal,
  });
  const roundTripMs = Math.max(0, clock.now() - sentMs);
  await wholeBody(body, MAX_BODY_BYTES);
  const dateMs = Date.parse(headers['date'] ?? '');
  if (Number.isNaN(dateMs)) return { status, offset: undefined };
  const offset = {
    aheadMs: dateMs + DATE_STEP_MS / 2 - (sentMs + roundTripMs / 2),
    errorMs: roundTripMs / 2 + DATE_STEP_MS / 2,
  };
  return { status, offset };
}
