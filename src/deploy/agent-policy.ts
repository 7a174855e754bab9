/**
 * The admission policy for agents. Their Role lets them patch any Pod of their namespace, because
 * the names of Pods are not known beforehand. This policy allows only the four annotations of the
 * protocol, on the Pod that the token belongs to, with numbers that never decrease. Accounts that
 * were made for agents are restricted in everything that they do to Pods. A user's own account may
 * do other work, so it is restricted only in writes to these annotations.
 */
import {
  AGENT_ACCOUNT_SUFFIX,
  AGENT_STARTS,
  EPOCH,
  IN_PLACE_RESTART_ATTEMPT,
  NOTICE,
} from '../jobset/names.ts';
import {
  VALIDATING_ADMISSION_POLICIES,
  VALIDATING_ADMISSION_POLICY_BINDINGS,
  type ValidatingAdmissionPolicy,
} from './kinds.ts';
import { type Installed, installed } from './settings.ts';

export const AGENT_POLICY_NAME = 'lockstep-agents';

export function agentPolicy(): readonly Installed[] {
  const metadata = { name: AGENT_POLICY_NAME };
  return [
    installed(VALIDATING_ADMISSION_POLICIES, metadata, { spec: AGENT_POLICY_SPEC }),
    installed(VALIDATING_ADMISSION_POLICY_BINDINGS, metadata, {
      spec: { policyName: AGENT_POLICY_NAME, validationActions: ['Deny'] },
    }),
  ];
}

/** The annotations that an agent writes, each with the form of its value. */
const FORMS = {
  [EPOCH]: '^[0-9]{1,10}$',
  [IN_PLACE_RESTART_ATTEMPT]: '^[0-9]{1,10}$',
  [AGENT_STARTS]: '^[0-9]{1,10}:[0-9]{1,10}$',
  [NOTICE]:
    '^([0-9]{1,10}|[{]"epoch":[0-9]{1,10},("exitCode":[0-9]{1,3}|"signal":"[A-Z0-9+]{1,20}")(,"ended":[{].{1,980}[}])?[}])$',
} as const;

const KEYS = `[${Object.keys(FORMS).map(quoted).join(', ')}]`;

/** The epoch, or attempt, is the first number of each value. */
const NUMBER = "find('[0-9]+')";
/** A value without a number, written by another party, does not stop an agent. */
const HAS_NUMBER = "matches('^[^0-9]*[0-9]{1,18}([^0-9]|$)')";

const STARTS = quoted(AGENT_STARTS);
const STARTS_FORM = quoted(FORMS[AGENT_STARTS]);

export const AGENT_POLICY_SPEC: ValidatingAdmissionPolicy['spec'] = {
  failurePolicy: 'Fail',
  matchConstraints: {
    resourceRules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods'] },
    ],
  },
  matchConditions: [
    {
      name: 'service-account',
      expression: "request.userInfo.username.startsWith('system:serviceaccount:')",
    },
  ],
  variables: [
    { name: 'before', expression: 'oldObject.metadata.?annotations.orValue({})' },
    { name: 'after', expression: 'object.metadata.?annotations.orValue({})' },
    { name: 'keys', expression: KEYS },
    {
      name: 'changed',
      expression:
        'variables.keys.filter(key, variables.after[?key].orValue("") != variables.before[?key].orValue("") || (key in variables.after) != (key in variables.before))',
    },
    {
      name: 'isAgent',
      expression: `request.userInfo.username.endsWith(${quoted(AGENT_ACCOUNT_SUFFIX)})`,
    },
    { name: 'isJudged', expression: 'variables.isAgent || variables.changed.size() > 0' },
  ],
  validations: [
    {
      expression: judged(
        "request.userInfo.?extra[?'authentication.kubernetes.io/pod-name'].orValue([]) == [object.metadata.name] && request.userInfo.?extra[?'authentication.kubernetes.io/pod-uid'].orValue([]) == [object.metadata.uid]",
      ),
      message: 'an agent may annotate only the Pod of its own token',
      reason: 'Forbidden',
    },
    {
      expression: judged(
        'variables.changed.all(key, key in variables.after) && ' +
          Object.entries(FORMS)
            .map(
              ([key, form]) =>
                `(!(${quoted(key)} in variables.changed) || variables.after[?${quoted(key)}].orValue('').matches(${quoted(form)}))`,
            )
            .join(' && '),
      ),
      message: 'the annotations of an agent are numbers, and stay',
      reason: 'Forbidden',
    },
    {
      expression: judged(
        `variables.changed.all(key, !variables.before[?key].orValue('').${HAS_NUMBER} || int(variables.after[?key].orValue('0').${NUMBER}) >= int(variables.before[key].${NUMBER}))`,
      ),
      message: 'the annotations of an agent never decrease',
      reason: 'Forbidden',
    },
    {
      expression: judged(
        `!(${STARTS} in variables.changed) || !variables.before[?${STARTS}].orValue('').matches(${STARTS_FORM}) || int(variables.after[${STARTS}].split(':')[0]) > int(variables.before[${STARTS}].split(':')[0]) || int(variables.after[${STARTS}].split(':')[1]) >= int(variables.before[${STARTS}].split(':')[1])`,
      ),
      message: 'the starts of an agent in one epoch never decrease',
      reason: 'Forbidden',
    },
    {
      expression: judged(
        'variables.before.all(key, key in variables.keys || variables.after[?key].orValue("") == variables.before[key] && key in variables.after) && variables.after.all(key, key in variables.keys || key in variables.before)',
      ),
      message: 'an agent may change no other annotation',
      reason: 'Forbidden',
    },
    {
      expression: judged(
        'object.metadata.?labels.orValue({}) == oldObject.metadata.?labels.orValue({}) && object.metadata.?finalizers.orValue([]) == oldObject.metadata.?finalizers.orValue([]) && object.metadata.?ownerReferences.orValue([]) == oldObject.metadata.?ownerReferences.orValue([])',
      ),
      message: 'an agent may change no label, finalizer or owner',
      reason: 'Forbidden',
    },
    {
      expression: judged('object.spec == oldObject.spec'),
      message: 'an agent may change nothing of a spec',
      reason: 'Forbidden',
    },
  ],
};

function judged(expression: string): string {
  return `!variables.isJudged || (${expression})`;
}

function quoted(text: string): string {
  return `'${text}'`;
}
