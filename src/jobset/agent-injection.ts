/**
 * Gives a Pod template what in-place restart needs (design, section 4): the agent, its marker volume
 * and the restart rules of the workers. As a sidecar, the agent is the last init container, and its
 * startup probe is the barrier. As a supervisor it is the entry point of the worker container and
 * starts the worker itself. A template that brings an agent of its own is left as it is.
 */
import type { Container, ContainerRestartRule, PodTemplateSpec } from '../kube/pod.ts';
import type { FieldError } from '../kube/status.ts';
import { agentEnvironment, environmentErrors, mergeEnvironment } from './agent-environment.ts';
import {
  AGENT_COMMAND,
  AGENT_CONTAINER,
  AGENT_CONTAINER_NAME,
  AGENT_TOKEN_VOLUME_NAME,
  BARRIER_PATH,
  BARRIER_PORT,
  DEFAULT_RESTART_EXIT_CODE,
  ENV_RESTART_RULES,
  MARKER_DIRECTORY,
  MARKER_VOLUME_NAME,
  SERVICE_ACCOUNT_DIRECTORY,
} from './names.ts';
import { templateAgent, templateAgentWarning } from './template-agent.ts';

export type RestartMode = 'Sidecar' | 'Supervisor';

export interface AgentOptions {
  readonly mode: RestartMode;
  /** Image of the injected sidecar. A supervisor runs from the worker's own image. */
  readonly image: string;
  /** The agent's program, by default `lockstep-agent`. */
  readonly command?: string;
  /** The exit code by which a sidecar asks for a restart of its Pod, by default 113. */
  readonly exitCode?: number;
  /** Where the template stands in its object, in front of the fields of errors. */
  readonly path?: string;
}

/** With errors, `template` is the one that was given. */
export interface AgentInjection {
  readonly template: PodTemplateSpec;
  readonly warnings: readonly string[];
  readonly errors: readonly FieldError[];
}

export function injectAgent(template: PodTemplateSpec, options: AgentOptions): AgentInjection {
  const own = templateAgent(template);
  if (own !== undefined) {
    const warning = templateAgentWarning(template, own);
    return { template, warnings: warning === undefined ? [] : [warning], errors: [] };
  }
  const injection =
    options.mode === 'Sidecar'
      ? injectSidecar(template, options)
      : injectSupervisor(template, options);
  const errors = [
    ...annotationErrors(template, options),
    ...volumeErrors(template, options),
    ...injection.errors,
  ];
  return errors.length > 0 ? { template, warnings: injection.warnings, errors } : injection;
}

/** The sidecar's startup probe is the barrier; it has to outlive any wait for a node. */
const BARRIER_PROBE_FAILURE_THRESHOLD = 2147483647;

/** One rule that matches every exit: an agent must not restart without its worker. */
const RESTART_POD_ON_EVERY_EXIT: ContainerRestartRule = {
  action: 'RestartPod',
  exitCodes: { operator: 'NotIn', values: [] },
};

/** What the failure of a worker means: the agent restarts too, and announces the next epoch. */
const RESTART_POD_ON_FAILURE: ContainerRestartRule = {
  action: 'RestartPod',
  exitCodes: { operator: 'NotIn', values: [0] },
};

function injectSidecar(template: PodTemplateSpec, options: AgentOptions): AgentInjection {
  const { spec } = template;
  const agent: Container = {
    name: AGENT_CONTAINER_NAME,
    image: options.image,
    command: [options.command ?? AGENT_COMMAND],
    ports: [{ containerPort: BARRIER_PORT }],
    env: agentEnvironment(options.exitCode ?? DEFAULT_RESTART_EXIT_CODE),
    volumeMounts: agentMounts(template),
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
        containers: spec.containers.map(withRestartRules),
        volumes: [...(spec.volumes ?? []), ...agentVolumes(template)],
      },
    },
    warnings: spec.containers.flatMap(loneRestartWarnings),
    errors: [],
  };
}

function loneRestartWarnings(container: Container): readonly string[] {
  return (container.restartPolicyRules ?? []).some((rule) => rule.action === 'Restart')
    ? [
        `container "${container.name}" has a restart rule with action Restart: in Sidecar mode it ` +
          'restarts this container alone, in its epoch, without the rest of the group',
      ]
    : [];
}

/**
 * The first container is the one that is supervised, as it is the default container elsewhere in
 * Kubernetes. Its rules are handed to the agent, which judges the worker by them; they also stay on
 * the container, where they judge the exit of the agent.
 */
function injectSupervisor(template: PodTemplateSpec, options: AgentOptions): AgentInjection {
  const { spec } = template;
  const [worker, ...others] = spec.containers;
  if (worker === undefined || (worker.command ?? []).length === 0) {
    return {
      template,
      warnings: [],
      errors: [
        {
          type: 'FieldValueRequired',
          field: field(options, 'spec.containers[0].command'),
          detail:
            'a supervising agent starts the worker itself and cannot know the entry point of the image',
        },
      ],
    };
  }
  const rules = worker.restartPolicyRules ?? [];
  const added = [
    ...agentEnvironment(options.exitCode ?? DEFAULT_RESTART_EXIT_CODE),
    ...(rules.length === 0 ? [] : [{ name: ENV_RESTART_RULES, value: JSON.stringify(rules) }]),
  ];
  const { args, ...rest } = worker;
  const supervised: Container = {
    ...withRestartRules(rest),
    command: [options.command ?? AGENT_COMMAND, '--', ...(worker.command ?? []), ...(args ?? [])],
    env: mergeEnvironment(worker.env ?? [], added),
    volumeMounts: [...(worker.volumeMounts ?? []), ...agentMounts(template)],
  };
  return {
    template: {
      ...template,
      spec: {
        ...spec,
        containers: [supervised, ...others.map(withRestartRules)],
        volumes: [...(spec.volumes ?? []), ...agentVolumes(template)],
      },
    },
    warnings: supervisorWarnings(worker, others),
    errors: environmentErrors(worker, added, field(options, 'spec.containers[0].env')),
  };
}

function supervisorWarnings(worker: Container, others: readonly Container[]): readonly string[] {
  const probes = (['livenessProbe', 'startupProbe'] as const).filter(
    (name) => worker[name] !== undefined,
  );
  return [
    ...probes.map(
      (name) =>
        `container "${worker.name}" has a ${name}: in Supervisor mode it also runs while the agent ` +
        'waits at the barrier and no worker can answer it',
    ),
    ...(others.length === 0
      ? []
      : [
          `in Supervisor mode only the first container, "${worker.name}", restarts with the group; ` +
            `${others.map(({ name }) => `"${name}"`).join(', ')} run on`,
        ]),
  ];
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

function agentMounts(template: PodTemplateSpec): NonNullable<Container['volumeMounts']> {
  return [
    { name: MARKER_VOLUME_NAME, mountPath: MARKER_DIRECTORY },
    ...(needsToken(template)
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

/** Kubernetes' own lifetime of mounted tokens: an hour, and 7 s by which it recognises them. */
const TOKEN_EXPIRATION_SECONDS = 3607;

function agentVolumes(template: PodTemplateSpec): NonNullable<PodTemplateSpec['spec']['volumes']> {
  const marker = { name: MARKER_VOLUME_NAME, emptyDir: {} };
  if (!needsToken(template)) return [marker];
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
  return [marker, token];
}

/** A Pod that mounts no token for its workers keeps them without; the agent gets one of its own. */
function needsToken(template: PodTemplateSpec): boolean {
  return template.spec.automountServiceAccountToken === false;
}

function annotationErrors(template: PodTemplateSpec, options: AgentOptions): readonly FieldError[] {
  const named = template.metadata?.annotations?.[AGENT_CONTAINER];
  if (named === undefined) return [];
  return [
    {
      type: 'FieldValueInvalid',
      field: field(options, `metadata.annotations[${AGENT_CONTAINER}]`),
      badValue: named,
      detail: 'must be the name of a container or init container of this template',
    },
  ];
}

function volumeErrors(template: PodTemplateSpec, options: AgentOptions): readonly FieldError[] {
  return (template.spec.volumes ?? []).flatMap(({ name }, index): readonly FieldError[] =>
    name === MARKER_VOLUME_NAME || name === AGENT_TOKEN_VOLUME_NAME
      ? [
          {
            type: 'FieldValueForbidden',
            field: field(options, `spec.volumes[${index}].name`),
            detail: `"${name}" is the name of a volume of the injected agent`,
          },
        ]
      : [],
  );
}

function field(options: AgentOptions, name: string): string {
  return options.path === undefined ? name : `${options.path}.${name}`;
}
