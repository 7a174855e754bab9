/** Applies a Job's `podFailurePolicy` to failed Pods. */
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Job, PodFailurePolicyRule } from '@lockstep/kube/objects/job.ts';
import type { ContainerStatus, Pod } from '@lockstep/kube/objects/pod.ts';

/** The first rule that matches decides; if none does, the failure counts. */
export type PodFailureAction = PodFailurePolicyRule['action'];

export interface PodFailureJudgement {
  readonly action: PodFailureAction;
  /** The reason in the condition of a Job that fails by this rule; empty if no rule matched. */
  readonly message: string;
}

const COUNTED: PodFailureJudgement = { action: 'Count', message: '' };

export function judgeFailedPod(job: Job, pod: Pod): PodFailureJudgement {
  const rules = job.spec.podFailurePolicy?.rules ?? [];
  for (const [index, rule] of rules.entries()) {
    const cause = causeOf(rule, pod);
    if (cause === undefined) continue;
    return {
      action: rule.action,
      message: `${cause} matching ${rule.action} rule at index ${index}`,
    };
  }
  return COUNTED;
}

/** The action of each Pod in `ended` that a rule matches. */
export function judgedActions(job: Job, ended: readonly Pod[]): readonly PodFailureAction[] {
  if (job.spec.podFailurePolicy === undefined) return [];
  return ended
    .filter((pod) => pod.status?.phase !== 'Succeeded')
    .map((pod) => judgeFailedPod(job, pod))
    .flatMap((judgement) => (judgement === COUNTED ? [] : [judgement.action]));
}

function causeOf({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod) {
  const name = `${namespaceOf(pod.metadata)}/${pod.metadata.name ?? ''}`;
  if (onExitCodes !== undefined) {
    const end = exitThatMatches(onExitCodes, pod);
    if (end === undefined) return undefined;
    return `Container ${end.container} for pod ${name} failed with exit code ${end.exitCode}`;
  }
  const found = pod.status?.conditions?.find(({ type, status }) =>
    onPodConditions?.some((each) => each.type === type && (each.status ?? 'True') === status),
  );
  return found === undefined ? undefined : `Pod ${name} has condition ${found.type}`;
}

function exitThatMatches(
  { containerName, operator, values }: NonNullable<PodFailurePolicyRule['onExitCodes']>,
  { status }: Pod,
): { readonly container: string; readonly exitCode: number } | undefined {
  const statuses: readonly ContainerStatus[] = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
  ];
  for (const { name, state } of statuses) {
    const exitCode = state?.terminated?.exitCode ?? 0;
    if (exitCode === 0 || (containerName !== undefined && containerName !== name)) continue;
    if (values.includes(exitCode) === (operator === 'In')) return { container: name, exitCode };
  }
  return undefined;
}
