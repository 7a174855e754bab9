/**
 * Decides which agents may have a stream. An agent needs a valid token of a living Pod that is, by
 * its owner chain, a member of a JobSet. All others are refused with a reason: in the answer, in the
 * metrics and, summed up, in the log.
 */
import { KeyedBudget } from '@lockstep/kube/runtime/keyed-budget.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type {
  StreamAcceptor,
  StreamRefusal,
  StreamRequest,
} from '@lockstep/kube/runtime/ports/stream.ts';
import type { Rate } from '@lockstep/kube/runtime/token-bucket.ts';
import type { HubMember } from './agent-stream.ts';
import type { Hub } from './hub.ts';
import type { PodClaim, TokenFinding } from './pod-token.ts';
import { type Refusal, RefusalLog } from './refusal-log.ts';
import { type ReadPod, UnseenPods } from './unseen-pods.ts';

export interface StreamAdmissionOptions {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly podOf: (token: string) => Promise<TokenFinding>;
  /** The membership, according to the operator's caches. */
  readonly membership: (claim: PodClaim) => MemberFinding;
  /** Reads a Pod that the caches do not show from storage. */
  readonly look: ReadPod;
}

export type MemberFinding =
  | { readonly kind: 'Member'; readonly member: HubMember }
  /** The Pod, its Job or its JobSet is not in the caches: not yet, or not any more. */
  | { readonly kind: 'Unknown' }
  | { readonly kind: 'Stranger'; readonly problem: string };

/** How long caches may be behind an agent that has just started. */
const UNKNOWN_POD_TIMEOUT_MS = 5000;
const UNKNOWN_POD_INTERVAL_MS = 100;

/** Requests of one Pod, for streams and pages. Its agent waits seconds after a few failed tries. */
const POD_REQUESTS: Rate = { perSecond: 5, burst: 50 };

export interface StreamAdmission {
  readonly accept: StreamAcceptor;
  /** The member that a token identifies, or why it identifies none. */
  readonly identify: (request: StreamRequest) => Promise<Identified>;
  /** Logs the remaining sums; later refusals are not logged. */
  readonly stop: () => void;
}

export type Identified = { readonly kind: 'Member'; readonly member: HubMember } | StreamRefusal;

export function streamAdmission(options: StreamAdmissionOptions): StreamAdmission {
  const { hub, clock, logger, podOf, membership } = options;
  const requests = new KeyedBudget(POD_REQUESTS, clock);
  const unseen = new UnseenPods(clock, options.look);
  const refusals = new RefusalLog(clock, logger);
  const refuse = (status: number, label: string, refusal: Refusal): StreamRefusal => {
    hub.metrics.refused(label);
    refusals.add(refusal);
    return { kind: 'Refuse', status, reason: refusal.reason };
  };
  const identify = async ({ token, address }: StreamRequest): Promise<Identified> => {
    const stranger = (reason: string, err?: unknown): Refusal => {
      return { reason, from: {}, details: err === undefined ? { address } : { address, err } };
    };
    if (token === undefined) return refuse(401, 'NoToken', stranger('no bearer token'));
    let finding: TokenFinding;
    try {
      finding = await podOf(token);
    } catch (error) {
      return refuse(503, 'Unavailable', stranger('the token cannot be checked now', error));
    }
    if (finding.kind === 'Invalid') {
      const why = `the token is not valid: ${finding.problem}`;
      return refuse(401, 'InvalidToken', stranger(why));
    }
    const { claim } = finding;
    const { namespace } = claim;
    const known = (reason: string): Refusal => {
      const details = { address, pod: `${namespace}/${claim.podName}` };
      return { reason, from: { namespace }, details };
    };
    if (!requests.of(claim.podUid).tryTake()) {
      const refused = refuse(429, 'TooManyRequests', known('the Pod asks too often'));
      return { ...refused, retryAfterSeconds: 1 };
    }
    const found = await memberOf({ membership, unseen, clock, logger }, claim);
    switch (found.kind) {
      case 'Unknown':
        return refuse(503, 'UnknownPod', known('the Pod is not known yet'));
      case 'Gone':
        return refuse(410, 'PodGone', known('the Pod of the token is gone or has ended'));
      case 'Stranger':
        return refuse(403, 'NotAMember', known(found.problem));
      case 'Member':
        return found;
    }
  };
  const accept: StreamAcceptor = async (request) => {
    const found = await identify(request);
    if (found.kind === 'Refuse') return found;
    const { member } = found;
    const reason = hub.fullness(member);
    if (reason !== undefined) {
      const { namespace, podName, jobSet: jobset } = member;
      const details = { address: request.address, pod: `${namespace}/${podName}` };
      return refuse(503, 'Full', { reason, from: { jobset }, details });
    }
    return { kind: 'Accept', open: (stream) => hub.open(member, stream) };
  };
  return { accept, identify, stop: () => refusals.stop() };
}

interface Lookup extends Pick<StreamAdmissionOptions, 'membership' | 'clock' | 'logger'> {
  readonly unseen: UnseenPods;
}

async function memberOf(
  { membership, unseen, clock, logger }: Lookup,
  claim: PodClaim,
): Promise<MemberFinding | { readonly kind: 'Gone' }> {
  const first = membership(claim);
  if (first.kind !== 'Unknown') return first;
  try {
    const found = await unseen.look(claim);
    if (found === 'Gone') return { kind: 'Gone' };
    if (found === 'Unrelated') return { kind: 'Stranger', problem: 'the Pod belongs to no JobSet' };
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
