/**
 * The conditions of a Pod that its node writes, with a kubelet's reasons and texts. A condition
 * keeps its transition time while its status stays the same.
 */
import type { ConditionStatus } from '@lockstep/kube/meta.ts';
import type { Pod, PodCondition, PodPhase } from '@lockstep/kube/objects/pod.ts';
import { mayRestartAll } from '@lockstep/kube/objects/restart-rule.ts';
import { containersOf } from '../pod-containers.ts';
import { hasAnyRegularStarted, type Statuses } from './pod-phase.ts';

export interface ConditionFacts {
  readonly pod: Pod;
  readonly statuses: Statuses;
  /** Even if the status does not show it yet, because something still has to stop. */
  readonly phase: PodPhase;
  /** The Pod has its directory, volumes and address, and has not given them back. */
  readonly isPrepared: boolean;
  /** Why it could not get them so far. */
  readonly preparationProblem: string | undefined;
  readonly isRestartingAll: boolean;
  /** From the Pod's last status, by the node's own memory. */
  readonly previous: readonly PodCondition[];
  /** RFC 3339. */
  readonly now: string;
}

interface ConditionValue {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason?: string;
  readonly message?: string;
  readonly isObserved: boolean;
}

/** In the order in which a kubelet writes them. Conditions of other writers are not in the list. */
export function podConditions(facts: ConditionFacts): readonly PodCondition[] {
  const { pod, previous } = facts;
  const verdicts: ConditionValue[] = [
    readyToStart(facts),
    initialized(facts),
    ready(facts),
    containersReady('ContainersReady', facts),
    { type: 'PodScheduled', status: 'True', isObserved: true },
    ...(mayRestartAll(pod.spec) ? [allContainersRestarting(facts)] : []),
  ];
  return verdicts.map((verdict) => withTimes(verdict, pod, previous, facts.now));
}

function initialized(facts: ConditionFacts): ConditionValue {
  const { pod, statuses, phase } = facts;
  const type = 'Initialized';
  if (phase === 'Succeeded')
    return { type, status: 'True', reason: 'PodCompleted', isObserved: true };
  const wasInitialized = facts.previous.some(
    (condition) => condition.type === type && condition.status === 'True',
  );
  const incomplete = (pod.spec.initContainers ?? [])
    .filter(({ name }) => statuses.get(name)?.ready !== true)
    .map(({ name }) => name);
  if (incomplete.length === 0 || wasInitialized || hasAnyRegularStarted(pod.spec, statuses)) {
    return { type, status: 'True', isObserved: true };
  }
  return {
    type,
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${incomplete.join(' ')}]`,
    isObserved: true,
  };
}

/** Ready depends on more than containers only if a Pod names conditions that others set. */
function ready(facts: ConditionFacts): ConditionValue {
  const verdict = containersReady('Ready', facts);
  const { spec, status } = facts.pod;
  const conditions = new Map(status?.conditions?.map((condition) => [condition.type, condition]));
  const missing = (spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const name = JSON.stringify(conditionType);
    const gate = conditions.get(conditionType);
    if (gate === undefined) {
      return [`corresponding condition of pod readiness gate ${name} does not exist.`];
    }
    if (gate.status === 'True') return [];
    return [`the status of pod readiness gate ${name} is not "True", but ${gate.status}`];
  });
  if (verdict.status === 'False' || missing.length === 0) return verdict;
  const reason = 'ReadinessGatesNotReady';
  return { ...verdict, status: 'False', reason, message: missing.join(', ') };
}

function containersReady(type: string, { pod, statuses, phase }: ConditionFacts): ConditionValue {
  if (phase === 'Succeeded' || phase === 'Failed') {
    return { type, status: 'False', reason: endReason(phase), isObserved: true };
  }
  const unready = containersOf(pod.spec)
    .filter(
      ({ kind, container }) => kind !== 'init' && statuses.get(container.name)?.ready !== true,
    )
    .map(({ container }) => container.name);
  if (unready.length === 0) return { type, status: 'True', isObserved: true };
  return {
    type,
    status: 'False',
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${unready.join(' ')}]`,
    isObserved: true,
  };
}

function allContainersRestarting({ phase, isRestartingAll }: ConditionFacts): ConditionValue {
  const type = 'AllContainersRestarting';
  if (phase === 'Succeeded' || phase === 'Failed') {
    return { type, status: 'False', reason: endReason(phase), isObserved: false };
  }
  if (!isRestartingAll) return { type, status: 'False', isObserved: false };
  return {
    type,
    status: 'True',
    reason: 'RestartAllContainersStarted',
    message: 'container exited with restart policy rule',
    isObserved: false,
  };
}

function readyToStart({ isPrepared, preparationProblem }: ConditionFacts): ConditionValue {
  const verdict = {
    type: 'PodReadyToStartContainers',
    status: text(isPrepared),
    isObserved: true,
  };
  if (isPrepared || preparationProblem === undefined) return verdict;
  return { ...verdict, reason: 'PreparationFailed', message: preparationProblem };
}

function endReason(phase: 'Succeeded' | 'Failed'): string {
  return phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed';
}

function withTimes(
  { isObserved, ...verdict }: ConditionValue,
  pod: Pod,
  previous: readonly PodCondition[],
  now: string,
): PodCondition {
  const before = previous.find(({ type }) => type === verdict.type);
  const isSame = before?.status === verdict.status;
  const { generation } = pod.metadata;
  return {
    ...verdict,
    lastTransitionTime: (isSame ? before.lastTransitionTime : undefined) ?? now,
    ...(isObserved && generation !== undefined ? { observedGeneration: generation } : {}),
  };
}

function text(value: boolean): ConditionStatus {
  return value ? 'True' : 'False';
}
