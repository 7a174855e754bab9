/**
 * What holds of Pods, Jobs and their parts beside what the published documents say: what else a real
 * server checks or fills in, what Lockstep adds, and descriptions in its own words.
 */
import { EXIT_CODE_OPERATORS, RESTART_ACTIONS } from '../objects/restart-rule.ts';
import type { Amendment, Amendments, DefinitionAmendments } from '../schema/definitions.ts';

/** Real servers take no other values, though the documents call the field a text. */
function only(values: readonly string[], description?: string): Amendment {
  return { enum: values, ...(description === undefined ? {} : { description }) };
}

/** Real servers take any value here: the documents list those that are in use. */
const ANY: Amendment = { enum: undefined };

/** Where a client says nothing, Go has an empty object, and then misses what should be in it. */
const EMPTY: Amendment = { default: {} };

/** Where a client says nothing, Go has this, and that counts as said. */
function zero(value: string): Amendment {
  return { default: value };
}

const CONTAINER_POLICIES = ['Always', 'Never', 'OnFailure'];

const CONTAINER: DefinitionAmendments = {
  name: 'Unique among the containers of the Pod.',
  image: 'Where the program comes from.',
  command: 'The program and its first arguments. $(NAME) is replaced by a variable of env.',
  args: 'Further arguments.',
  envFrom: 'ConfigMaps and Secrets whose entries become environment variables.',
  env: 'Environment variables.',
  resources: 'What the container needs, and may use at most.',
  restartPolicyRules:
    'What happens on which exit code. The first rule that matches counts; the restart policy decides where none does.',
  volumeMounts: 'Where the volumes of the Pod appear.',
  livenessProbe: 'The container is restarted when this fails.',
  readinessProbe: 'The Pod is ready, and reached through Services, while this succeeds.',
  startupProbe:
    'The other probes, and the containers after a sidecar, wait for this to succeed once.',
  lifecycle: 'Handlers after the start and before the stop.',
  restartPolicy: only(
    CONTAINER_POLICIES,
    'Instead of the policy of the Pod. Always makes a sidecar of an init container.',
  ),
};

export const POD_AMENDMENTS: Amendments = {
  'io.k8s.api.batch.v1': {
    JobSpec: {
      parallelism: 'How many Pods run at the same time.',
      completions:
        'How many Pods have to succeed. With parallelism alone, any success ends the Job.',
      activeDeadlineSeconds: 'Seconds after its start at which the Job is failed.',
      podFailurePolicy: 'Rules for failed Pods by exit code or condition.',
      successPolicy: 'Which indexes have to succeed; all of them by default.',
      backoffLimit: 'Failed Pods before the Job fails. 6 by default.',
      backoffLimitPerIndex: 'Failed Pods of one index before that index fails.',
      maxFailedIndexes: 'Failed indexes before the Job fails.',
      selector: 'Finds the Pods of the Job. The server sets it.',
      ttlSecondsAfterFinished: 'Seconds after its end at which the Job is deleted.',
      completionMode:
        'Indexed gives each Pod an index from 0 to completions - 1; NonIndexed makes them alike.',
      suspend: 'A suspended Job has no Pods.',
      podReplacementPolicy:
        'Whether a Pod is replaced while it still terminates, or only once it has Failed.',
      managedBy: 'The controller that runs the Job, if it is not the built-in one.',
      template: { default: {}, description: 'The Pod that is created, again and again.' },
    },
  },
  'io.k8s.api.core.v1': {
    Container: CONTAINER,
    EphemeralContainer: CONTAINER,
    ContainerResizePolicy: { restartPolicy: only(['NotRequired', 'RestartContainer']) },
    // Beside the actions of Kubernetes, Lockstep has RestartPod, which is RestartAllContainers, and Terminate.
    ContainerRestartRule: {
      action: only(
        RESTART_ACTIONS,
        'Restart: this container. RestartAllContainers or RestartPod: all containers of the Pod, in place. Terminate: it stays ended.',
      ),
      exitCodes: 'The exit codes that the rule is for.',
    },
    ContainerRestartRuleOnExitCodes: {
      operator: only(EXIT_CODE_OPERATORS, 'In or NotIn.'),
      values: 'Exit codes, at most 255 of them.',
    },
    HTTPHeader: { value: zero('') },
    // Kubernetes has this field behind a gate that is off. Here it is kept, and has no effect.
    Lifecycle: { stopSignal: ANY },
    ModifyVolumeStatus: { status: ANY },
    PersistentVolumeClaim: { '': 'Storage that a user asks for.' },
    PersistentVolumeClaimStatus: {
      phase: ANY,
      accessModes: { items: { type: 'string' } },
      allocatedResourceStatuses: { additionalProperties: { type: 'string' } },
    },
    PodOS: { name: only(['linux', 'windows']) },
    PodSecurityContext: { seLinuxChangePolicy: only(['MountOption', 'Recursive']) },
    PodSpec: {
      volumes: 'Directories that containers can mount.',
      initContainers:
        'Containers that run one after the other before the others start. One with restartPolicy Always is a sidecar: it keeps running beside them.',
      containers: 'The containers that do the work of the Pod. They start together.',
      restartPolicy:
        'What happens when a container ends: Always, OnFailure or Never. A container can have a policy of its own.',
      terminationGracePeriodSeconds:
        'Seconds between the request to stop and the kill. 30 by default.',
      activeDeadlineSeconds: 'Seconds after its start at which the Pod is failed.',
      nodeSelector: 'Labels that a node must have.',
      serviceAccountName: 'The account under which the Pod speaks to the API.',
      automountServiceAccountToken: 'Whether containers find a token of the account.',
      nodeName: 'The node that the Pod is bound to. The scheduler sets it.',
      hostname: 'The name of the host within the Pod; its own name by default.',
      subdomain:
        'With the headless Service of this name, the Pod is reached as HOSTNAME.SUBDOMAIN.',
      affinity: 'Which nodes, and which other Pods on them, are required or preferred.',
      tolerations: 'Taints of nodes that the Pod accepts.',
      topologySpreadConstraints: 'How evenly Pods of a kind are spread over parts of the cluster.',
      schedulingGates: 'The Pod waits, unscheduled, until the list is empty.',
      schedulingGroup: 'The group that is scheduled as a whole, of which the Pod is a member.',
    },
    PodTemplateSpec: { spec: EMPTY },
    // An empty text stands for Equal, and for every effect.
    Toleration: {
      operator: only(['', 'Equal', 'Exists', 'Gt', 'Lt']),
      effect: only(['', 'NoExecute', 'NoSchedule', 'PreferNoSchedule']),
    },
    VolumeMount: { recursiveReadOnly: only(['Disabled', 'Enabled', 'IfPossible']) },
  },
  'io.k8s.apimachinery.pkg.apis.meta.v1': {
    LabelSelectorRequirement: { operator: only(['In', 'NotIn', 'Exists', 'DoesNotExist']) },
  },
};
