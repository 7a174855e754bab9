/**
 * Validates the status of a Pod that a node writes: a container that has ended stays so, unless its
 * policy or a rule restarts it, or a rule can restart all containers.
 */
import { forbiddenField } from '@lockstep/kube/field-error.ts';
import type { Container, ContainerStatus, Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { matchingAction, mayRestartAll } from '@lockstep/kube/objects/restart-rule.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

export function podStatusUpdateErrors({ status }: Pod, before: Pod): FieldError[] {
  const { spec } = before;
  if (mayRestartAll(spec)) return [];
  const { containerStatuses, initContainerStatuses } = status ?? {};
  const old = before.status;
  return [
    ...returnErrors(
      containerStatuses,
      old?.containerStatuses,
      (name, code) => isRestarted(spec.containers, name, code, spec),
      'status.containerStatuses',
    ),
    ...returnErrors(
      initContainerStatuses,
      old?.initContainerStatuses,
      (name, code) => isRestarted(spec.initContainers ?? [], name, code, spec),
      'status.initContainerStatuses',
    ),
  ];
}

function returnErrors(
  statuses: readonly ContainerStatus[] = [],
  before: readonly ContainerStatus[] = [],
  mayReturn: (name: string, exitCode: number) => boolean,
  path: string,
): FieldError[] {
  return before.flatMap(({ name, state }, index) => {
    const now = statuses.find((status) => status.name === name);
    const ended = state?.terminated;
    if (ended === undefined || now === undefined || now.state?.terminated !== undefined) return [];
    if (mayReturn(name, ended.exitCode)) return [];
    const detail = 'may not be transitioned to non-terminated state';
    return [forbiddenField(`${path}[${index}].state`, detail)];
  });
}

function isRestarted(
  containers: readonly Container[],
  name: string,
  exitCode: number,
  pod: PodSpec,
): boolean {
  const container = containers.find((each) => each.name === name);
  if (container === undefined) return false;
  const { restartPolicy, restartPolicyRules = [] } = container;
  const action =
    restartPolicy === undefined ? undefined : matchingAction(restartPolicyRules, exitCode);
  if (action !== undefined) return action !== 'Terminate';
  const policy = restartPolicy ?? pod.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}
