/**
 * Judges the health of nodes as Kubernetes' node lifecycle controller does. A node that is silent
 * for longer than the grace period is in unknown condition, and taints keep Pods off it or evict
 * them. Everything follows from the Node, its Lease and the time.
 */
import type { Lease } from '@lockstep/kube/objects/lease.ts';
import { type Node, type Taint, UNREACHABLE_TAINT } from '@lockstep/kube/objects/node.ts';
import { timeText } from '@lockstep/kube/time.ts';

export type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number];

/** The node's own `Ready` condition, or `Unknown` if its last report is too old. */
export type Readiness = 'True' | 'False' | 'Unknown';

export const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';

const NEVER_POSTED = 'Kubelet never posted node status.';
const STOPPED_POSTING = 'Kubelet stopped posting node status.';
/** The conditions that a kubelet reports; without its reports they are unknown. */
const REPORTED_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The last sign of life, in wall time. */
export function lastHeartbeatMs(node: Node, lease: Lease | undefined): number {
  const times = [
    lease?.spec?.renewTime,
    conditionOf(node, 'Ready')?.lastHeartbeatTime,
    node.metadata.creationTimestamp,
  ];
  return Math.max(...times.map((time) => Date.parse(time ?? '') || 0));
}

export function readinessOf(node: Node): Readiness {
  const status = conditionOf(node, 'Ready')?.status;
  return status === 'True' || status === 'False' ? status : 'Unknown';
}

/** The conditions of a silent node; undefined if they are already so. */
export function silentConditions(node: Node, nowMs: number): readonly NodeCondition[] | undefined {
  const now = timeText(nowMs);
  const before = node.status?.conditions ?? [];
  const changed = REPORTED_CONDITIONS.map((type): NodeCondition => {
    const condition = conditionOf(node, type);
    if (condition === undefined) {
      const reason = 'NodeStatusNeverUpdated';
      const times = { lastHeartbeatTime: now, lastTransitionTime: now };
      return { type, status: 'Unknown', reason, message: NEVER_POSTED, ...times };
    }
    if (condition.status === 'Unknown') return condition;
    return {
      ...condition,
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: STOPPED_POSTING,
      lastTransitionTime: now,
    };
  });
  if (changed.every((condition) => before.includes(condition))) return undefined;
  return [...before.filter(({ type }) => !REPORTED_CONDITIONS.includes(type)), ...changed];
}

/** Conditions and fields that keep Pods away, with their taints. */
const NO_SCHEDULE: readonly (readonly [string, (node: Node) => boolean])[] = [
  [NOT_READY_TAINT, (node) => readinessOf(node) === 'False'],
  [UNREACHABLE_TAINT, (node) => readinessOf(node) === 'Unknown'],
  ['node.kubernetes.io/memory-pressure', (node) => isTrue(node, 'MemoryPressure')],
  ['node.kubernetes.io/disk-pressure', (node) => isTrue(node, 'DiskPressure')],
  ['node.kubernetes.io/pid-pressure', (node) => isTrue(node, 'PIDPressure')],
  ['node.kubernetes.io/network-unavailable', (node) => isTrue(node, 'NetworkUnavailable')],
  ['node.kubernetes.io/unschedulable', (node) => node.spec?.unschedulable === true],
];

const NO_EXECUTE: readonly (readonly [string, Readiness])[] = [
  [NOT_READY_TAINT, 'False'],
  [UNREACHABLE_TAINT, 'Unknown'],
];

/**
 * What to do about the Pods of lost nodes. `Spare`: no node is ready, so the control plane is
 * probably cut off itself, and no Pod is evicted. `Keep`: no further node is tainted, but existing
 * taints stay.
 */
export type Eviction = 'Evict' | 'Keep' | 'Spare';

/** Whether the node is lost, and its Pods are not being evicted yet. */
export function awaitsEviction(node: Node): boolean {
  return readinessOf(node) !== 'True' && !isEvicting(node);
}

function isEvicting({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(
    ({ key, effect }) => effect === 'NoExecute' && NO_EXECUTE.some(([ours]) => ours === key),
  );
}

/** The taints that the node should have; undefined if it has them. Other taints stay. */
export function wantedTaints(
  node: Node,
  eviction: Eviction,
  nowMs: number,
): readonly Taint[] | undefined {
  const before = node.spec?.taints ?? [];
  const isOurs = ({ key, effect }: Taint): boolean =>
    (effect === 'NoSchedule' && NO_SCHEDULE.some(([ours]) => ours === key)) ||
    (effect === 'NoExecute' && NO_EXECUTE.some(([ours]) => ours === key));
  const kept = (key: string, effect: string): Taint | undefined =>
    before.find((taint) => taint.key === key && taint.effect === effect);
  const noSchedule = NO_SCHEDULE.filter(([, applies]) => applies(node)).map(
    ([key]) => kept(key, 'NoSchedule') ?? { key, effect: 'NoSchedule' },
  );
  const readiness = readinessOf(node);
  const evicts = eviction === 'Evict' || (eviction === 'Keep' && isEvicting(node));
  const noExecute = NO_EXECUTE.filter(([, when]) => when === readiness && evicts).map(
    ([key]) => kept(key, 'NoExecute') ?? { key, effect: 'NoExecute', timeAdded: timeText(nowMs) },
  );
  const wanted = [...noSchedule, ...noExecute];
  const stays = before.filter((taint) => !isOurs(taint));
  const isSame =
    stays.length + wanted.length === before.length &&
    wanted.every((taint) => before.includes(taint));
  return isSame ? undefined : [...stays, ...wanted];
}

function conditionOf(node: Node, type: string): NodeCondition | undefined {
  return node.status?.conditions?.find((condition) => condition.type === type);
}

function isTrue(node: Node, type: string): boolean {
  return conditionOf(node, type)?.status === 'True';
}
