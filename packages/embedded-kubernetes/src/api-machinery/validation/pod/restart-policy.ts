/**
 * Validates restart policies and restart rules of containers (KEP-5307, KEP-5532). Besides the
 * actions of Kubernetes, `RestartPod` and `Terminate` are accepted.
 */
import { required, tooMany, unknownValueErrors } from '@lockstep/kube/field-error.ts';
import type { Container, RestartPolicy } from '@lockstep/kube/objects/pod.ts';
import { EXIT_CODE_OPERATORS, RESTART_ACTIONS } from '@lockstep/kube/objects/restart-rule.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

const RESTART_RULE_LIMIT = 20;
const EXIT_CODE_LIMIT = 255;
/** The order differs from the order of a Pod's policies, and error texts show it. */
const RESTART_POLICIES: readonly RestartPolicy[] = ['Always', 'Never', 'OnFailure'];

/** Problems of a regular container or an init container at `path`. */
export function restartPolicyErrors(container: Container, path: string): FieldError[] {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  const rulesPath = `${path}.restartPolicyRules`;
  const errors: FieldError[] = [];
  if (rules.length > 0 && restartPolicy === undefined) {
    const detail = 'must specify restartPolicy when restart rules are used';
    errors.push(required(`${path}.restartPolicy`, detail));
  }
  errors.push(...unknownValueErrors(`${path}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  if (rules.length > RESTART_RULE_LIMIT) {
    errors.push(tooMany(rulesPath, rules.length, RESTART_RULE_LIMIT));
  }
  rules.forEach(({ action, exitCodes }, index) => {
    const exitCodesPath = `${rulesPath}[${index}].exitCodes`;
    errors.push(...unknownValueErrors(`${rulesPath}[${index}].action`, action, RESTART_ACTIONS));
    if (exitCodes === undefined) {
      errors.push(required(exitCodesPath, 'must be specified'));
      return;
    }
    const { operator } = exitCodes;
    errors.push(...unknownValueErrors(`${exitCodesPath}.operator`, operator, EXIT_CODE_OPERATORS));
    const { length } = exitCodes.values ?? [];
    if (length > EXIT_CODE_LIMIT) {
      errors.push(tooMany(`${exitCodesPath}.values`, length, EXIT_CODE_LIMIT));
    }
  });
  return errors;
}
