/**
 * Adds the agent, its marker volume and the workers' restart rules to a Pod template, for in-place
 * restart. As a sidecar, the agent is the last init container, and its startup probe is the
 * barrier. As a supervisor it is the entry point of the worker container and starts the worker
 * itself. A template with its own agent is left as it is.
 */
import { required } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type {
  Container,
  ContainerRestartRule,
  PodSpec,
  PodTemplateSpec,
} from '@lockstep/kube/objects/pod.ts';
import { restartsPod } from '@lockstep/kube/objects/restart-rule.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { RestartMode } from '../jobset-status.ts';
import {
  AGENT_COMMAND,
  AGENT_CONTAINER_NAME,
  AGENT_TOKEN_VOLUME_NAME,
  BARRIER_PATH,
  BARRIER_PORT,
  DEFAULT_RESTART_EXIT_CODE,
  ENV_RESTART_RULES,
  LOST_NODE_DEADLINE,
  MARKER_DIRECTORY,
  MARKER_VOLUME_NAME,
  SERVICE_ACCOUNT_DIRECTORY,
} from '../names.ts';
import type { RestartAllProblem } from '../restart-rules/restart-rules.ts';
import {
  sidecarConflicts,
  sidecarWarnings,
  supervisorConflicts,
  supervisorWarnings,
  templateConflicts,
} from './agent-conflicts.ts';
import { type AgentDelivery, deliverAgent, withDelivery } from './agent-delivery.ts';
import {
  agentEnvironment,
  environmentErrors,
  mergeEnvironment,
  ranksEnvironment,
} from './agent-environment.ts';
import { type HubAccess, hubEnvironment, hubMounts, hubVolumes } from './agent-hub.ts';
import { type ShareOptions, shareResources, shareWarnings } from './agent-resources.ts';
import { agentSecurity } from './agent-security.ts';
import { settingsEnvironment } from './agent-settings.ts';
import { lostNodeTolerationWarning, withLostNodeToleration } from './lost-node-toleration.ts';
import { PROGRESS_MOUNT, PROGRESS_VOLUME, withProgressFile } from './progress-volume.ts';
import { templateAgent, templateAgentWarning, untoldAgentWarning } from './template-agent.ts';
import { keptFromAgent } from './worker-environment.ts';

export interface AgentOptions extends ShareOptions {
  readonly mode: RestartMode;
  /** Image of the agent. */
  readonly image: string;
  /** The agent's program, by default `lockstep-agent`. */
  readonly command?: string;
  /** How a supervisor gets into the worker's container, by default `WorkerImage`. */
  readonly delivery?: AgentDelivery;
  /** The exit code by which a sidecar asks for a restart of its Pod, by default 113. */
  readonly exitCode?: number;
  /** See `LOST_NODE_DEADLINE`; absent: a Pod of a lost node never counts as dead. */
  readonly lostNodeDeadline?: string | undefined;
  /** How many ranks a supervisor starts; absent: it runs the command once, which is no rank. */
  readonly processes?: number | undefined;
  /** The JobSet's annotations, from which `agent-settings.ts` makes the agent's settings. */
  readonly annotations?: StringMap | undefined;
  /** If present, the agent may use the hub. */
  readonly hub?: HubAccess;
  /** Why nodes know no action that restarts all containers; absent: they do. */
  readonly restartAllProblem?: RestartAllProblem;
  /** The path of the template in its object, as a prefix for errors. */
  readonly path?: string;
}

/** If there are errors, `template` is the given one. */
export interface AgentInjection {
  readonly template: PodTemplateSpec;
  readonly warnings: readonly string[];
  readonly errors: readonly FieldError[];
}

export function injectAgent(template: PodTemplateSpec, options: AgentOptions): AgentInjection {
  const own = templateAgent(template);
  if (own !== undefined) {
    const warnings = [
      templateAgentWarning(template, own),
      options.lostNodeDeadline === undefined ? undefined : untoldAgentWarning(template, own),
    ].filter((warning) => warning !== undefined);
    return { template, warnings, errors: [] };
  }
  const injection =
    options.mode === 'Sidecar'
      ? injectSidecar(template, options)
      : injectSupervisor(template, options);
  const errors = [...templateConflicts(template, prefix(options)), ...injection.errors];
  if (errors.length > 0) return { template, warnings: injection.warnings, errors };
  const { lostNodeDeadline } = options;
  return lostNodeDeadline === undefined ? injection : withDeadline(injection, lostNodeDeadline);
}

/**
 * Records the deadline on the Pod, for the operator, and limits the Pod's tolerations so that
 * Kubernetes deletes it.
 */
function withDeadline(
  { template, warnings, errors }: AgentInjection,
  deadline: string,
): AgentInjection {
  const { metadata } = template;
  const warning = lostNodeTolerationWarning(template, deadline);
  const annotations = { ...metadata?.annotations, [LOST_NODE_DEADLINE]: deadline };
  const told = { ...template, metadata: { ...metadata, annotations } };
  return {
    template: withLostNodeToleration(told, deadline),
    warnings: warning === undefined ? warnings : [...warnings, warning],
    errors,
  };
}

/** The sidecar's startup probe is the barrier, so it has to outlive any wait for a node. */
const BARRIER_PROBE_FAILURE_THRESHOLD = 2147483647;

/** One rule that matches every exit: an agent must not restart without its worker. */
const RESTART_POD_ON_EVERY_EXIT: ContainerRestartRule = {
  action: 'RestartPod',
  exitCodes: { operator: 'NotIn', values: [] },
};

/** For a failed worker: the agent restarts too, and announces the next epoch. */
const RESTART_POD_ON_FAILURE: ContainerRestartRule = {
  action: 'RestartPod',
  exitCodes: { operator: 'NotIn', values: [0] },
};

function injectSidecar(template: PodTemplateSpec, options: AgentOptions): AgentInjection {
  const { spec } = template;
  const [worker, ...others] = spec.containers;
  const share = worker === undefined ? undefined : shareResources(worker, options);
  const hasToken = needsToken(template, options);
  const agent: Container = {
    name: AGENT_CONTAINER_NAME,
    image: options.image,
    command: [options.command ?? AGENT_COMMAND],
    ports: [{ containerPort: BARRIER_PORT }],
    env: [
      ...agentEnvironment(options.exitCode ?? DEFAULT_RESTART_EXIT_CODE, options.lostNodeDeadline),
      ...hubEnvironment(options.hub),
    ],
    ...share?.agent,
    ...(worker === undefined ? {} : { securityContext: agentSecurity(worker) }),
    volumeMounts: [...agentMounts(hasToken, options.hub), PROGRESS_MOUNT],
    restartPolicy: 'Always',
    restartPolicyRules: [RESTART_POD_ON_EVERY_EXIT],
    startupProbe: {
      httpGet: { path: BARRIER_PATH, port: BARRIER_PORT },
      periodSeconds: 1,
      failureThreshold: BARRIER_PROBE_FAILURE_THRESHOLD,
    },
  };
  return {
    template: {
      ...template,
      spec: {
        ...spec,
        initContainers: [...(spec.initContainers ?? []), agent],
        containers: (share === undefined ? [] : [share.worker, ...others]).map((container) =>
          withProgressFile(withRestartRules(container)),
        ),
        volumes: [...(spec.volumes ?? []), ...agentVolumes(hasToken, options.hub), PROGRESS_VOLUME],
      },
    },
    warnings: [...sidecarWarnings(spec.containers), ...shareWarnings(share)],
    errors: sidecarConflicts(template, prefix(options)),
  };
}

/**
 * Supervises the first container, because it is the default container elsewhere in Kubernetes. The
 * agent gets the container's restart rules and judges the worker by them. The rules also stay on the
 * container, where they judge the agent's exit.
 */
function injectSupervisor(template: PodTemplateSpec, options: AgentOptions): AgentInjection {
  const { spec } = template;
  const [worker, ...others] = spec.containers;
  if (worker === undefined || (worker.command ?? []).length === 0) {
    const detail =
      'a supervising agent starts the worker itself and cannot know the entry point of the image';
    const errors = [required(`${prefix(options)}spec.containers[0].command`, detail)];
    return { template, warnings: [], errors };
  }
  const rules = worker.restartPolicyRules ?? [];
  const added = [
    ...agentEnvironment(options.exitCode ?? DEFAULT_RESTART_EXIT_CODE, options.lostNodeDeadline),
    ...hubEnvironment(options.hub),
    ...settingsEnvironment(options.annotations, worker),
    ...ranksEnvironment(options.processes, options.annotations),
    ...(rules.length === 0 ? [] : [{ name: ENV_RESTART_RULES, value: JSON.stringify(rules) }]),
  ];
  // An agent in the worker's image may be too old to give the variables back.
  const isBrought = (options.delivery ?? 'WorkerImage') !== 'WorkerImage';
  const { args = [], ...rest } = isBrought ? keptFromAgent(worker) : worker;
  const hasToken = needsToken(template, options) && !mountsCredentials(worker);
  const delivery = deliverAgent(options, worker);
  const { restartAllProblem: problem } = options;
  const canRestartAll = problem === undefined;
  const supervised: Container = {
    ...(canRestartAll ? withRestartRules(rest) : withoutRestartAll(rest, problem)),
    command: [...delivery.command, '--', ...(rest.command ?? []), ...args],
    env: mergeEnvironment(rest.env ?? [], added),
    volumeMounts: [
      ...(worker.volumeMounts ?? []),
      ...delivery.volumeMounts,
      ...agentMounts(hasToken, options.hub),
    ],
  };
  const reached = withDelivery(spec, delivery);
  return {
    template: {
      ...template,
      spec: {
        ...reached,
        containers: [supervised, ...(canRestartAll ? others.map(withRestartRules) : others)],
        volumes: [...(reached.volumes ?? []), ...agentVolumes(hasToken, options.hub)],
      },
    },
    warnings: supervisorWarnings(worker, [...sidecarsOf(spec), ...others]),
    errors: [
      ...environmentErrors(worker, added, `${prefix(options)}spec.containers[0].env`),
      ...supervisorConflicts(worker, prefix(options)),
    ],
  };
}

/** The template's own sidecars: init containers that run beside its workers. */
function sidecarsOf({ initContainers = [] }: PodSpec): readonly Container[] {
  return initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
}

/** An explicit policy stays: with the rule before it, it only decides about exit code 0. */
function withRestartRules(container: Container): Container {
  if ((container.restartPolicyRules ?? []).length > 0) return container;
  return {
    ...container,
    restartPolicy: container.restartPolicy ?? 'Never',
    restartPolicyRules: [RESTART_POD_ON_FAILURE],
  };
}

function agentMounts(
  hasToken: boolean,
  hub: HubAccess | undefined,
): NonNullable<Container['volumeMounts']> {
  return [
    { name: MARKER_VOLUME_NAME, mountPath: MARKER_DIRECTORY },
    ...hubMounts(hub),
    ...(hasToken
      ? [
          {
            name: AGENT_TOKEN_VOLUME_NAME,
            mountPath: SERVICE_ACCOUNT_DIRECTORY,
            readOnly: true,
          },
        ]
      : []),
  ];
}

/** Kubernetes' own lifetime of mounted tokens: an hour and 7 s, by which it recognises them. */
const TOKEN_EXPIRATION_SECONDS = 3607;

function agentVolumes(
  hasToken: boolean,
  hub: HubAccess | undefined,
): NonNullable<PodTemplateSpec['spec']['volumes']> {
  const volumes = [{ name: MARKER_VOLUME_NAME, emptyDir: {} }, ...hubVolumes(hub)];
  if (!hasToken) return volumes;
  const token = {
    name: AGENT_TOKEN_VOLUME_NAME,
    projected: {
      sources: [
        { serviceAccountToken: { path: 'token', expirationSeconds: TOKEN_EXPIRATION_SECONDS } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    },
  };
  return [...volumes, token];
}

/**
 * A Pod that mounts no token for its workers still mounts none for them. An agent that may use the
 * API server gets a token of its own.
 */
function needsToken({ spec }: PodTemplateSpec, { hub }: AgentOptions): boolean {
  return spec.automountServiceAccountToken === false && hub?.channel !== 'Hub';
}

/** If its files are already mounted, the agent uses them. */
function mountsCredentials({ volumeMounts = [] }: Container): boolean {
  return volumeMounts.some(
    ({ mountPath }) => mountPath.replace(/\/+$/, '') === SERVICE_ACCOUNT_DIRECTORY,
  );
}

/** A prefix for errors' fields. */
function prefix({ path }: AgentOptions): string {
  return path === undefined ? '' : `${path}.`;
}

/**
 * The container without rules that nodes cannot follow. The agent still judges its worker by all
 * rules; those on the container only cover the end of the agent itself. Where there are none, its Pod
 * ends with it, and is replaced.
 */
function withoutRestartAll(container: Container, { dropsRules }: RestartAllProblem): Container {
  if (dropsRules) {
    const { restartPolicy: _policy, restartPolicyRules: _rules, ...bare } = container;
    return bare;
  }
  const { restartPolicyRules = [], ...rest } = withRestartRules(container);
  return {
    ...rest,
    restartPolicyRules: restartPolicyRules.map((rule) =>
      restartsPod(rule.action) ? { ...rule, action: 'Restart' } : rule,
    ),
  };
}
