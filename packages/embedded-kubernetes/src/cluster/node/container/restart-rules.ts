/**
 * Whether and how a container that ended is started again: its restart policy, its restart rules
 * (KEP-5307, KEP-5532) and `Terminate`. The first rule that matches the exit code decides;
 * `RestartPod` and `RestartAllContainers` are two names of one action.
 */
import type { Container, PodSpec, RestartPolicy } from '@lockstep/kube/objects/pod.ts';
import { matchingAction } from '@lockstep/kube/objects/restart-rule.ts';
import type { ContainerKind } from '../pod-containers.ts';

/** The action of the first matching rule, in one dialect. */
export type RuleAction = 'Restart' | 'RestartAllContainers' | 'Terminate';

/** The action of the first rule that matches `exitCode`; undefined if none does. */
export function findMatchingRule(container: Container, exitCode: number): RuleAction | undefined {
  // Rules count only with a policy of the container's own; validation demands one.
  if (container.restartPolicy === undefined) return undefined;
  const action = matchingAction(container.restartPolicyRules ?? [], exitCode);
  return action === 'RestartPod' ? 'RestartAllContainers' : action;
}

/** Whether a container that ended with `exitCode` is to be started again, alone or with all. */
export function shouldRestart(
  container: Container,
  kind: ContainerKind,
  pod: Pick<PodSpec, 'restartPolicy'>,
  exitCode: number,
): boolean {
  const action = findMatchingRule(container, exitCode);
  if (action === 'Terminate') return false;
  if (action !== undefined || kind === 'sidecar') return true;
  switch (effectivePolicy(container, pod)) {
    case 'Always':
      return true;
    case 'OnFailure':
      return exitCode !== 0;
    case 'Never':
      return false;
  }
}

/** Whether that exit restarts every container of the Pod. */
export function triggersRestartOfAll(container: Container, exitCode: number): boolean {
  return findMatchingRule(container, exitCode) === 'RestartAllContainers';
}

/** Whether that exit ends the Pod: `Terminate` of a sidecar or of an init container. */
export function terminatesPod(
  container: Container,
  kind: ContainerKind,
  exitCode: number,
): boolean {
  return kind !== 'regular' && findMatchingRule(container, exitCode) === 'Terminate';
}

/** The container's own policy, or the Pod's, whose default is Always. */
export function effectivePolicy(
  container: Container,
  pod: Pick<PodSpec, 'restartPolicy'>,
): RestartPolicy {
  return container.restartPolicy ?? pod.restartPolicy ?? 'Always';
}
