import { cutToBytes } from '@lockstep/kube/cut-to-bytes.ts';
import type { Condition, ConditionStatus } from '@lockstep/kube/meta.ts';
import { timeText } from '@lockstep/kube/time.ts';

/**
 * Condition types of a JobSet. Lockstep has added:
 *
 * - `Ready` and `Stalled`, for tools that know nothing of JobSets (`readiness.ts`)
 * - `RestartingInPlace`; and `InPlaceRestartBypassed`: an annotation or the policy forbids it
 * - `Rejected`: the spec cannot be acted on
 * - `NameConflict`: an object of another owner has a name that the JobSet needs
 * - `JobsRefused`: the API server does not let the JobSet have its Jobs
 * - `WaitingForLostNode`: a Pod should have ended, and its node does not confirm that
 * - `WaitingForUnknownPod`: a Pod has the JobSet's labels and an unknown Job
 * - `DefinitionOutdated`: the stored definition lacks fields that the JobSet needs
 * - `UnknownAnnotations`: it has annotations of ours that this version does not know
 * - `ReplacementPending`: a member that left its node has not come back after some minutes
 * - `MemberNotStarting`: why members of a group do not start
 * - `HubUnreachable`: agents that should use the hub do not connect
 * - `PortConflict`: Pods on the nodes of `lockstep up` listen on one port
 */
export type ConditionType =
  | 'Completed'
  | 'Failed'
  | 'Suspended'
  | 'StartupPolicyInProgress'
  | 'StartupPolicyCompleted'
  | 'RestartingJobSet'
  | 'RestartingInPlace'
  | 'Ready'
  | 'Stalled'
  | 'GuaranteesReduced'
  | 'InPlaceRestartBypassed'
  | 'Rejected'
  | 'NameConflict'
  | 'JobsRefused'
  | 'WaitingForLostNode'
  | 'WaitingForUnknownPod'
  | 'DefinitionOutdated'
  | 'UnknownAnnotations'
  | 'ReplacementPending'
  | 'MemberNotStarting'
  | 'HubUnreachable'
  | 'PortConflict';

/** Conditions for tools, which repeat the others. */
export const FOR_TOOLS: readonly string[] = ['Ready', 'Stalled'] satisfies readonly ConditionType[];

export interface ConditionChange {
  readonly type: ConditionType;
  readonly status: Exclude<ConditionStatus, 'Unknown'>;
  readonly reason: string;
  readonly message: string;
  /** Type of the Event that goes with the change; absent: none does. */
  readonly event?: 'Normal' | 'Warning';
  /** Nothing changes unless the condition is True. */
  readonly onlyIfTrue?: true;
  /** It is added although it is False. */
  readonly isToldWhenFalse?: true;
}

/** Turns off a condition that is True. */
export function cleared(type: ConditionType, reason: string, message: string): ConditionChange {
  return { type, status: 'False', reason, message, event: 'Normal', onlyIfTrue: true };
}

/**
 * Messages quote texts of users, which may have any length. The API server refuses a status with a
 * message of more than 32 KiB; a person reads less.
 */
export const MAX_MESSAGE_BYTES = 8192;

/**
 * The list with the change applied, or the same list if it says so already. This is how two changes
 * of one condition are merged, too: the later change gets the earlier one's list. A condition that is
 * not there is usually only added when it becomes True; `lastTransitionTime` moves only when the
 * status does. The startup policy has two conditions: when one becomes True, the other turns False
 * in its place and keeps everything else that it said.
 */
export function changeCondition(
  conditions: readonly Condition[],
  { type, status, reason, message, onlyIfTrue, isToldWhenFalse }: ConditionChange,
  nowMs: number,
): readonly Condition[] {
  if (onlyIfTrue === true && !isTrue(conditions, type)) return conditions;
  const change = { type, status, reason, message: cutToBytes(message, MAX_MESSAGE_BYTES) };
  const old = conditions.find((each) => each.type === type);
  if (old === undefined) {
    if (change.status !== 'True' && isToldWhenFalse !== true) return conditions;
    const added: Condition = { ...change, lastTransitionTime: timeText(nowMs) };
    return [...withoutCounterpart(conditions, change), added];
  }
  const isSameStatus = old.status === change.status;
  if (isSameStatus && old.reason === change.reason && old.message === change.message) {
    return conditions;
  }
  const lastTransitionTime = isSameStatus ? old.lastTransitionTime : timeText(nowMs);
  const changed: Condition = { ...old, ...change, lastTransitionTime };
  return withoutCounterpart(conditions, change).map((condition) =>
    condition === old ? changed : condition,
  );
}

const COUNTERPARTS: Partial<Record<string, ConditionType>> = {
  StartupPolicyInProgress: 'StartupPolicyCompleted',
  StartupPolicyCompleted: 'StartupPolicyInProgress',
};

function withoutCounterpart(
  conditions: readonly Condition[],
  change: ConditionChange,
): readonly Condition[] {
  const counterpart = COUNTERPARTS[change.type];
  if (counterpart === undefined || change.status !== 'True') return conditions;
  return conditions.map((each) =>
    each.type === counterpart ? { ...each, status: 'False' } : each,
  );
}

export function isTrue(
  conditions: readonly Pick<Condition, 'type' | 'status'>[] | undefined,
  type: string,
): boolean {
  return conditions?.some((each) => each.type === type && each.status === 'True') ?? false;
}

/** Whether the JobSet is over. Completed and Failed are final. */
export function isFinished(conditions: readonly Condition[] | undefined): boolean {
  return isTrue(conditions, 'Completed') || isTrue(conditions, 'Failed');
}
