/**
 * Schemas of `core/v1 Container` and its parts. Restart rules know, besides the actions of
 * Kubernetes, `RestartPod` (the same as `RestartAllContainers`) and `Terminate`.
 */

import { EXIT_CODE_OPERATORS, RESTART_ACTIONS } from '../objects/restart-rule.ts';
import {
  atomicList,
  boolean,
  defaulted,
  definitions,
  described,
  int32,
  listMap,
  map,
  mergeMap,
  oneOf,
  set,
  string,
} from '../schema/builders.ts';
import { QUANTITY } from './meta-schema.ts';
import { LIFECYCLE, PROBE } from './probe-schema.ts';
import {
  CONFIG_MAP_KEY_SELECTOR,
  FILE_KEY_SELECTOR,
  OBJECT_FIELD_SELECTOR,
  RESOURCE_FIELD_SELECTOR,
  SECRET_KEY_SELECTOR,
} from './reference-schema.ts';
import { SECURITY_CONTEXT } from './security-schema.ts';

const core = definitions('io.k8s.api.core.v1');

const ENV_VAR_SOURCE = core('EnvVarSource', {
  fieldRef: OBJECT_FIELD_SELECTOR,
  resourceFieldRef: RESOURCE_FIELD_SELECTOR,
  configMapKeyRef: CONFIG_MAP_KEY_SELECTOR,
  secretKeyRef: SECRET_KEY_SELECTOR,
  fileKeyRef: FILE_KEY_SELECTOR,
});

const ENV_VAR = core(
  'EnvVar',
  { name: string(), value: string(), valueFrom: ENV_VAR_SOURCE },
  { required: ['name'] },
);

const CONFIG_MAP_ENV_SOURCE = core('ConfigMapEnvSource', { name: string(), optional: boolean() });

const SECRET_ENV_SOURCE = core('SecretEnvSource', { name: string(), optional: boolean() });

const ENV_FROM_SOURCE = core('EnvFromSource', {
  prefix: string(),
  configMapRef: CONFIG_MAP_ENV_SOURCE,
  secretRef: SECRET_ENV_SOURCE,
});

const CONTAINER_PORT = core(
  'ContainerPort',
  {
    name: string(),
    hostPort: int32(),
    containerPort: int32(),
    protocol: defaulted('TCP', oneOf(['SCTP', 'TCP', 'UDP'])),
    hostIP: string(),
  },
  { required: ['containerPort'] },
);

const RESOURCE_CLAIM = core(
  'ResourceClaim',
  { name: string(), request: string() },
  { required: ['name'] },
);

export const RESOURCE_REQUIREMENTS = core('ResourceRequirements', {
  limits: map(QUANTITY),
  requests: map(QUANTITY),
  claims: listMap(['name'], RESOURCE_CLAIM),
});

const CONTAINER_RESIZE_POLICY = core(
  'ContainerResizePolicy',
  {
    resourceName: string(),
    restartPolicy: oneOf(['NotRequired', 'RestartContainer']),
  },
  { required: ['resourceName', 'restartPolicy'] },
);

const CONTAINER_RESTART_RULE_ON_EXIT_CODES = core(
  'ContainerRestartRuleOnExitCodes',
  {
    operator: oneOf(EXIT_CODE_OPERATORS, 'In or NotIn.'),
    values: set(int32(), 'Exit codes, at most 255 of them.'),
  },
  { required: ['operator'] },
);

const CONTAINER_RESTART_RULE = core(
  'ContainerRestartRule',
  {
    action: oneOf(
      RESTART_ACTIONS,
      'Restart: this container. RestartAllContainers or RestartPod: all containers of the Pod, in place. Terminate: it stays ended.',
    ),
    exitCodes: described(
      'The exit codes that the rule is for.',
      CONTAINER_RESTART_RULE_ON_EXIT_CODES,
    ),
  },
  { required: ['action'] },
);

const VOLUME_MOUNT = core(
  'VolumeMount',
  {
    name: string(),
    readOnly: boolean(),
    recursiveReadOnly: oneOf(['Disabled', 'Enabled', 'IfPossible']),
    mountPath: string(),
    subPath: string(),
    mountPropagation: oneOf(['Bidirectional', 'HostToContainer', 'None']),
    subPathExpr: string(),
  },
  { required: ['name', 'mountPath'] },
);

const VOLUME_DEVICE = core(
  'VolumeDevice',
  { name: string(), devicePath: string() },
  { required: ['name', 'devicePath'] },
);

export const CONTAINER = core(
  'Container',
  {
    name: string('Unique among the containers of the Pod.'),
    image: string('Where the program comes from.'),
    command: atomicList(
      string(),
      'The program and its first arguments. $(NAME) is replaced by a variable of env.',
    ),
    args: atomicList(string(), 'Further arguments.'),
    workingDir: string(),
    ports: mergeMap(['containerPort', 'protocol'], CONTAINER_PORT),
    envFrom: atomicList(
      ENV_FROM_SOURCE,
      'ConfigMaps and Secrets whose entries become environment variables.',
    ),
    env: mergeMap(['name'], ENV_VAR, 'Environment variables.'),
    resources: described('What the container needs, and may use at most.', RESOURCE_REQUIREMENTS),
    resizePolicy: atomicList(CONTAINER_RESIZE_POLICY),
    restartPolicy: oneOf(
      ['Always', 'Never', 'OnFailure'],
      'Instead of the policy of the Pod. Always makes a sidecar of an init container.',
    ),
    restartPolicyRules: atomicList(
      CONTAINER_RESTART_RULE,
      'What happens on which exit code. The first rule that matches counts; the restart policy decides where none does.',
    ),
    volumeMounts: mergeMap(['mountPath'], VOLUME_MOUNT, 'Where the volumes of the Pod appear.'),
    volumeDevices: mergeMap(['devicePath'], VOLUME_DEVICE),
    livenessProbe: described('The container is restarted when this fails.', PROBE),
    readinessProbe: described(
      'The Pod is ready, and reached through Services, while this succeeds.',
      PROBE,
    ),
    startupProbe: described(
      'The other probes, and the containers after a sidecar, wait for this to succeed once.',
      PROBE,
    ),
    lifecycle: described('Handlers after the start and before the stop.', LIFECYCLE),
    terminationMessagePath: string(),
    terminationMessagePolicy: oneOf(['FallbackToLogsOnError', 'File']),
    imagePullPolicy: oneOf(['Always', 'IfNotPresent', 'Never']),
    securityContext: SECURITY_CONTEXT,
    stdin: boolean(),
    stdinOnce: boolean(),
    tty: boolean(),
  },
  { required: ['name'] },
);

/** A container that is added to a running Pod, to look into it. */
export const EPHEMERAL_CONTAINER = core(
  'EphemeralContainer',
  { ...CONTAINER.properties, targetContainerName: string() },
  { required: ['name'] },
);
