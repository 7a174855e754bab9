/**
 * The status of a Pod as its node writes it: phase, conditions, addresses and containers, from the
 * records of the containers and what the node is doing with the Pod.
 */
import type { Pod, PodCondition, PodPhase, PodStatus } from '@lockstep/kube/objects/pod.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { type ContainerRecord, isAlive, settled } from '../container/container-record.ts';
import { containerStatuses } from './container-status.ts';
import { podConditions } from './pod-conditions.ts';
import { phaseOf } from './pod-phase.ts';

export interface PodStatusFacts {
  readonly pod: Pod;
  readonly records: ReadonlyMap<string, ContainerRecord>;
  /** The Pod has its address and its volumes, and has not given them back. */
  readonly isPrepared: boolean;
  readonly preparationProblem: string | undefined;
  readonly isRestartingAll: boolean;
  /** Undefined while the Pod is to run. */
  readonly ending: PodEnding | undefined;
  /** It has ended, and the status has shown that: the phase may follow. */
  readonly isVerdictShown: boolean;
  readonly hostIP: string;
  readonly podIP: string | undefined;
  readonly startedMs: number;
  /** The phase and the conditions of the previous status. */
  readonly previous: {
    readonly phase: PodPhase;
    readonly conditions: readonly PodCondition[];
    readonly podIP: string | undefined;
  };
  readonly nowMs: number;
}

/** Why the Pod ends: its containers did, it is deleted, or the node gave it up. */
export type PodEnding =
  | { readonly type: 'containers' }
  | { readonly type: 'deleted' }
  | { readonly type: 'failed'; readonly reason: string; readonly message: string };

/** What the node knows of the addresses of both families; the API's lists. */
export type NodePodStatus = PodStatus & {
  readonly phase: PodPhase;
  readonly conditions: readonly PodCondition[];
  readonly hostIPs?: readonly { readonly ip: string }[];
};

export function podStatus(facts: PodStatusFacts): NodePodStatus {
  const { pod, records, ending, hostIP } = facts;
  const podIP = shownAddress(facts);
  const statuses = containerStatuses(pod, records);
  const isDown = ![...records.values()].some(isAlive);
  // It stays as it was until all is down, unless the node gave it up.
  const hasEnded = ending !== undefined && isDown;
  const verdict =
    ending?.type === 'failed' ? 'Failed' : phaseOf(pod.spec, statuses.byName, hasEnded);
  const isTerminal = verdict === 'Failed' || verdict === 'Succeeded';
  const conditions = podConditions({
    pod,
    statuses: statuses.byName,
    phase: verdict,
    isPrepared: facts.isPrepared,
    preparationProblem: facts.preparationProblem,
    isRestartingAll: facts.isRestartingAll,
    previous: facts.previous.conditions,
    now: timeText(facts.nowMs),
  });
  return {
    phase: isTerminal && !facts.isVerdictShown ? facts.previous.phase : verdict,
    conditions,
    ...(ending?.type === 'failed' ? { reason: ending.reason, message: ending.message } : {}),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime: pod.status?.startTime ?? timeText(facts.startedMs),
    ...(statuses.init.length === 0 ? {} : { initContainerStatuses: statuses.init }),
    containerStatuses: statuses.regular,
    ...(statuses.ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: statuses.ephemeral }),
  };
}

/** A kubelet learns a Pod's address together with the state of its first container. */
function shownAddress({ podIP, previous, records }: PodStatusFacts): string | undefined {
  const isKnown =
    previous.podIP !== undefined ||
    [...records.values()].some((record) => {
      const { life, restartCount } = settled(record);
      return life.state !== 'waiting' || life.reason !== undefined || restartCount > 0;
    });
  return isKnown ? podIP : undefined;
}
