/** Schemas of `batch/v1 Job`, complete as of Kubernetes 1.36. */
import {
  atomicList,
  boolean,
  defaulted,
  definitions,
  described,
  int32,
  int64,
  mergedBy,
  oneOf,
  set,
  string,
  time,
} from '../schema/builders.ts';
import { kind, LABEL_SELECTOR } from './meta-schema.ts';
import { POD_TEMPLATE_SPEC } from './pod-schema.ts';

const batch = definitions('io.k8s.api.batch.v1');

const POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT = batch(
  'PodFailurePolicyOnExitCodesRequirement',
  {
    containerName: string(),
    operator: oneOf(['In', 'NotIn']),
    values: set(int32()),
  },
  { required: ['operator', 'values'] },
);

const POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN = batch(
  'PodFailurePolicyOnPodConditionsPattern',
  { type: string(), status: string() },
  { required: ['type'] },
);

const POD_FAILURE_POLICY_RULE = batch(
  'PodFailurePolicyRule',
  {
    action: oneOf(['Count', 'FailIndex', 'FailJob', 'Ignore']),
    onExitCodes: POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT,
    onPodConditions: atomicList(POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN),
  },
  { required: ['action'] },
);

const POD_FAILURE_POLICY = batch(
  'PodFailurePolicy',
  { rules: atomicList(POD_FAILURE_POLICY_RULE) },
  { required: ['rules'] },
);

const SUCCESS_POLICY_RULE = batch('SuccessPolicyRule', {
  succeededIndexes: string(),
  succeededCount: int32(),
});

const SUCCESS_POLICY = batch(
  'SuccessPolicy',
  { rules: atomicList(SUCCESS_POLICY_RULE) },
  { required: ['rules'] },
);

export const JOB_SPEC = batch(
  'JobSpec',
  {
    parallelism: int32('How many Pods run at the same time.'),
    completions: int32(
      'How many Pods have to succeed. With parallelism alone, any success ends the Job.',
    ),
    activeDeadlineSeconds: int64('Seconds after its start at which the Job is failed.'),
    podFailurePolicy: described(
      'Rules for failed Pods by exit code or condition.',
      POD_FAILURE_POLICY,
    ),
    successPolicy: described(
      'Which indexes have to succeed; all of them by default.',
      SUCCESS_POLICY,
    ),
    backoffLimit: int32('Failed Pods before the Job fails. 6 by default.'),
    backoffLimitPerIndex: int32('Failed Pods of one index before that index fails.'),
    maxFailedIndexes: int32('Failed indexes before the Job fails.'),
    selector: described('Finds the Pods of the Job. The server sets it.', LABEL_SELECTOR),
    manualSelector: boolean(),
    template: described(
      'The Pod that is created, again and again.',
      defaulted({}, POD_TEMPLATE_SPEC),
    ),
    ttlSecondsAfterFinished: int32('Seconds after its end at which the Job is deleted.'),
    completionMode: oneOf(
      ['Indexed', 'NonIndexed'],
      'Indexed gives each Pod an index from 0 to completions - 1; NonIndexed makes them alike.',
    ),
    suspend: boolean('A suspended Job has no Pods.'),
    podReplacementPolicy: oneOf(
      ['Failed', 'TerminatingOrFailed'],
      'Whether a Pod is replaced while it still terminates, or only once it has Failed.',
    ),
    managedBy: string('The controller that runs the Job, if it is not the built-in one.'),
  },
  { required: ['template'] },
);

const UNCOUNTED_TERMINATED_PODS = batch('UncountedTerminatedPods', {
  succeeded: set(string()),
  failed: set(string()),
});

const JOB_CONDITION = batch(
  'JobCondition',
  {
    type: string(),
    status: string(),
    lastProbeTime: time(),
    lastTransitionTime: time(),
    reason: string(),
    message: string(),
  },
  { required: ['type', 'status'] },
);

const JOB_STATUS = batch('JobStatus', {
  conditions: mergedBy('type', atomicList(JOB_CONDITION)),
  startTime: time(),
  completionTime: time(),
  active: int32('Pods that are pending or running, and not being deleted.'),
  succeeded: int32('Pods that succeeded.'),
  failed: int32('Pods that failed.'),
  terminating: int32('Pods that are being deleted.'),
  completedIndexes: string('Indexes that succeeded, such as 0,2-5.'),
  failedIndexes: string('Indexes that failed for good.'),
  uncountedTerminatedPods: described(
    'UIDs of Pods that ended and are not counted yet.',
    UNCOUNTED_TERMINATED_PODS,
  ),
  ready: int32('Active Pods that are ready.'),
});

export const JOB = kind(
  batch(
    'Job',
    { spec: defaulted({}, JOB_SPEC), status: JOB_STATUS },
    { description: 'Runs Pods until enough of them have succeeded.' },
  ),
);
