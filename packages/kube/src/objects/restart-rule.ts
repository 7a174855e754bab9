import type { ContainerRestartRule, PodSpec } from './pod.ts';

/** The actions of restart rules. `RestartPod` and `Terminate` are Lockstep's own. */
export const RESTART_ACTIONS: readonly ContainerRestartRule['action'][] = [
  'Restart',
  'RestartAllContainers',
  'RestartPod',
  'Terminate',
];

/** The feature that a node declares if it can restart all containers of a Pod in place. */
export const RESTART_ALL_FEATURE = 'RestartAllContainersOnContainerExits';

export const EXIT_CODE_OPERATORS: readonly string[] = ['In', 'NotIn'];

/**
 * The action of the first rule that matches `exitCode` (KEP-5307), as a kubelet picks it. A rule
 * without exit codes, or with an operator of a later API, is skipped.
 */
export function matchingAction(
  rules: readonly ContainerRestartRule[],
  exitCode: number,
): ContainerRestartRule['action'] | undefined {
  return rules.find(({ exitCodes }) => {
    const isListed = exitCodes?.values?.includes(exitCode) ?? false;
    if (exitCodes?.operator === 'In') return isListed;
    return exitCodes?.operator === 'NotIn' && !isListed;
  })?.action;
}

/** Whether the action restarts all containers of a Pod, under either of its names. */
export function restartsPod(action: ContainerRestartRule['action'] | undefined): boolean {
  return action === 'RestartPod' || action === 'RestartAllContainers';
}

/**
 * Whether any exit could restart all containers of the Pod. Only such Pods have the condition
 * `AllContainersRestarting`, and they run only on nodes that declare the feature.
 */
export function mayRestartAll(spec: PodSpec): boolean {
  return [...(spec.initContainers ?? []), ...spec.containers].some((container) =>
    container.restartPolicyRules?.some((rule) => restartsPod(rule.action)),
  );
}
