import type { Metrics } from '../../runtime/metrics.ts';
import { type Clock, sleep } from '../../runtime/ports/clock.ts';
import type { Logger } from '../../runtime/ports/logger.ts';
import type { StreamAcceptor, StreamRefusal, StreamRequest } from '../../runtime/ports/stream.ts';
import type { HubMember } from './agent-stream.ts';
import type { Hub } from './hub.ts';
import type { PodClaim, TokenVerdict } from './pod-token.ts';

/**
 * Who may have a stream: an agent whose token is good and bound to a Pod that lives and is, by owner
 * chain, a member of a JobSet. Everybody else is refused with a reason, in the answer, in the log and
 * in the metrics.
 */
export interface StreamAdmissionOptions {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  readonly podOf: (token: string) => Promise<TokenVerdict>;
  /** As the operator's caches show it. */
  readonly membership: (claim: PodClaim) => Membership;
  /**
   * A Pod that the caches do not show, read from storage. `Unrelated`: it wears no label of a JobSet, so
   * that they never will.
   */
  readonly look: (claim: PodClaim) => Promise<'Gone' | 'Lives' | 'Unrelated'>;
}

export type Membership =
  | { readonly kind: 'Member'; readonly member: HubMember }
  /** The Pod, its Job or its JobSet is not in the caches: not yet, or not any more. */
  | { readonly kind: 'Unknown' }
  | { readonly kind: 'Stranger'; readonly problem: string };

/** How long caches may be behind an agent that has just started. */
const UNKNOWN_POD_TIMEOUT_MS = 5000;
const UNKNOWN_POD_INTERVAL_MS = 100;

export interface StreamAdmission {
  readonly accept: StreamAcceptor;
  /** The member for whom a token speaks, or why it speaks for none. */
  readonly identify: (request: StreamRequest) => Promise<Identified>;
}

export type Identified = { readonly kind: 'Member'; readonly member: HubMember } | StreamRefusal;

export function streamAdmission(options: StreamAdmissionOptions): StreamAdmission {
  const { hub, logger, podOf } = options;
  const refuse = (status: number, label: string, reason: string, fields = {}): StreamRefusal => {
    hub.metrics.refused(label);
    logger.warn('refused a stream', { reason, ...fields });
    return { kind: 'Refuse', status, reason };
  };
  const identify = async ({ token, address }: StreamRequest): Promise<Identified> => {
    if (token === undefined) return refuse(401, 'NoToken', 'no bearer token', { address });
    let verdict: TokenVerdict;
    try {
      verdict = await podOf(token);
    } catch (error) {
      return refuse(503, 'Unavailable', 'the token cannot be checked now', { address, err: error });
    }
    if (verdict.kind === 'Invalid') {
      return refuse(401, 'InvalidToken', `the token is not valid: ${verdict.problem}`, { address });
    }
    const { claim } = verdict;
    const pod = `${claim.namespace}/${claim.podName}`;
    const found = await memberOf(options, claim);
    switch (found.kind) {
      case 'Unknown':
        return refuse(503, 'UnknownPod', 'the Pod is not known yet', { address, pod });
      case 'Gone':
        return refuse(410, 'PodGone', 'the Pod of the token is gone or has ended', {
          address,
          pod,
        });
      case 'Stranger':
        return refuse(403, 'NotAMember', found.problem, { address, pod });
      case 'Member':
        return found;
    }
  };
  const accept: StreamAcceptor = async (request) => {
    const found = await identify(request);
    if (found.kind === 'Refuse') return found;
    const { member } = found;
    const full = hub.fullness(member);
    if (full !== undefined) return refuse(503, 'Full', full, { pod: member.podName });
    return { kind: 'Accept', open: (stream) => hub.open(member, stream) };
  };
  return { accept, identify };
}

async function memberOf(
  { membership, look, clock, logger }: StreamAdmissionOptions,
  claim: PodClaim,
): Promise<Membership | { readonly kind: 'Gone' }> {
  const first = membership(claim);
  if (first.kind !== 'Unknown') return first;
  try {
    const found = await look(claim);
    if (found === 'Gone') return { kind: 'Gone' };
    if (found === 'Unrelated') return { kind: 'Stranger', problem: 'the Pod is no JobSet’s' };
  } catch (error) {
    logger.debug('a Pod could not be read', { err: error });
    return first;
  }
  const untilMs = clock.monotonic() + UNKNOWN_POD_TIMEOUT_MS;
  while (clock.monotonic() < untilMs) {
    await sleep(clock, UNKNOWN_POD_INTERVAL_MS);
    const again = membership(claim);
    if (again.kind !== 'Unknown') return again;
  }
  return first;
}
