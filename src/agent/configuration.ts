/**
 * The agent's configuration, from its command line and its environment. Every problem is told at
 * once, each with the variable, its value and what was expected.
 */
import {
  AGENT_COMMAND,
  BARRIER_PORT,
  DEFAULT_RESTART_EXIT_CODE,
  ENV_EXIT_CODE,
  ENV_JOBSET_NAME,
  ENV_JOBSET_UID,
  ENV_MARKER_DIRECTORY,
  ENV_NAMESPACE,
  ENV_POD_IP,
  ENV_POD_NAME,
  ENV_POD_UID,
  ENV_PORT_PREFIX,
  ENV_REPLICATED_JOB_NAME,
  ENV_RESTART_RULES,
  ENV_ROOT,
  ENV_STOP_GRACE_SECONDS,
} from '../jobset/names.ts';
import type { ContainerRestartRule } from '../kube/pod.ts';

export interface Configuration {
  /** The worker's command in supervisor mode; undefined: sidecar. */
  readonly worker: readonly [string, ...string[]] | undefined;
  readonly namespace: string;
  readonly podName: string;
  readonly podUid: string | undefined;
  /** Where the barrier listens; undefined: on all addresses. */
  readonly podIP: string | undefined;
  /** Undefined: the port that the injected probe asks for. */
  readonly barrierPort: number | undefined;
  readonly jobSetName: string;
  readonly jobSetUid: string | undefined;
  /** Undefined: follow the epoch in which all of the JobSet was released. */
  readonly replicatedJobName: string | undefined;
  /** 1 to 255. */
  readonly restartExitCode: number;
  /** Below `root`. Undefined: the marker is kept in memory. */
  readonly markerDirectory: string | undefined;
  readonly restartRules: readonly ContainerRestartRule[];
  readonly stopGraceMs: number;
  /** What stands for `/`; empty where that is `/` itself. */
  readonly root: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export type ConfigurationResult =
  | { readonly type: 'Configuration'; readonly configuration: Configuration }
  | { readonly type: 'Help' | 'Version' }
  | { readonly type: 'Errors'; readonly errors: readonly string[] };

export const USAGE = `Usage: ${AGENT_COMMAND} [-- COMMAND [ARGUMENT]...]

The agent of one Pod of a JobSet that restarts in place. Without a command it is a
sidecar: its barrier is GET /barrier-is-lifted on port 8080. With a command it is a
supervisor: it starts the command when the barrier lifts and restarts it with its group.

Environment:
  ${ENV_NAMESPACE}, ${ENV_POD_NAME}, ${ENV_JOBSET_NAME}   the Pod and its JobSet (required)
  ${ENV_POD_UID}, ${ENV_JOBSET_UID}             refuse others of the same name
  ${ENV_REPLICATED_JOB_NAME}            the ReplicatedJob of the Pod
  ${ENV_POD_IP}                         address of the barrier (default: all)
  ${ENV_EXIT_CODE}  exit code that asks for a restart (default ${DEFAULT_RESTART_EXIT_CODE})
  ${ENV_MARKER_DIRECTORY}      directory that outlives the container
  ${ENV_RESTART_RULES}         supervisor: the container's restartPolicyRules, JSON
  ${ENV_STOP_GRACE_SECONDS}    supervisor: from SIGTERM to SIGKILL (default 5)

  --help     print this
  --version  print the version
`;

const DEFAULT_STOP_GRACE_SECONDS = 5;
/** An hour: whoever asks for more has confused the unit. */
const MAX_STOP_GRACE_SECONDS = 3600;

export function readConfiguration(
  args: readonly string[],
  environment: Environment,
): ConfigurationResult {
  const [first, ...command] = args;
  if (first === '--help' || first === '-h') return { type: 'Help' };
  if (first === '--version') return { type: 'Version' };
  const read = new EnvironmentReader(environment);
  const configuration: Configuration = {
    worker: workerOf(first, command, read),
    namespace: read.required(ENV_NAMESPACE, 'the namespace of the Pod'),
    podName: read.required(ENV_POD_NAME, 'the name of the Pod'),
    podUid: read.optional(ENV_POD_UID),
    podIP: read.optional(ENV_POD_IP),
    barrierPort: read.port(`${ENV_PORT_PREFIX}${BARRIER_PORT}`),
    jobSetName: read.required(ENV_JOBSET_NAME, 'the name of the JobSet of the Pod'),
    jobSetUid: read.optional(ENV_JOBSET_UID),
    replicatedJobName: read.optional(ENV_REPLICATED_JOB_NAME),
    restartExitCode: read.integer(ENV_EXIT_CODE, DEFAULT_RESTART_EXIT_CODE, 1, 255),
    markerDirectory: read.optional(ENV_MARKER_DIRECTORY),
    restartRules: read.rules(ENV_RESTART_RULES),
    stopGraceMs:
      1000 *
      read.integer(ENV_STOP_GRACE_SECONDS, DEFAULT_STOP_GRACE_SECONDS, 0, MAX_STOP_GRACE_SECONDS),
    root: read.optional(ENV_ROOT) ?? '',
  };
  return read.errors.length > 0
    ? { type: 'Errors', errors: read.errors }
    : { type: 'Configuration', configuration };
}

function workerOf(
  first: string | undefined,
  command: readonly string[],
  read: EnvironmentReader,
): readonly [string, ...string[]] | undefined {
  if (first === undefined) return undefined;
  if (first !== '--') {
    read.errors.push(`argument ${JSON.stringify(first)}: expected "--" and the worker's command`);
    return undefined;
  }
  const [program, ...rest] = command;
  if (program === undefined || program === '') {
    read.errors.push('argument "--": expected the command of the worker after it');
    return undefined;
  }
  return [program, ...rest];
}

/** Longer texts are cut in messages. */
const SHOWN_VALUE_LENGTH = 200;

class EnvironmentReader {
  readonly errors: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** An empty variable is one that is not set. */
  optional(name: string): string | undefined {
    const value = this.#environment[name];
    return value === '' ? undefined : value;
  }

  required(name: string, expected: string): string {
    const value = this.optional(name);
    if (value === undefined) this.#reject(name, this.#environment[name], expected);
    return value ?? '';
  }

  integer(name: string, otherwise: number, least: number, most: number): number {
    const text = this.optional(name);
    if (text === undefined) return otherwise;
    const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    this.#reject(name, text, `a whole number from ${least} to ${most}`);
    return otherwise;
  }

  port(name: string): number | undefined {
    return this.optional(name) === undefined ? undefined : this.integer(name, 0, 1, 65_535);
  }

  rules(name: string): readonly ContainerRestartRule[] {
    const text = this.optional(name);
    if (text === undefined) return [];
    const rules = parseRules(text);
    if (rules === undefined) {
      this.#reject(
        name,
        text,
        'a JSON array of rules such as ' +
          '{"action":"RestartPod","exitCodes":{"operator":"NotIn","values":[0]}}, actions ' +
          `${ACTIONS.join(', ')}, operators In and NotIn, values 0 to 255`,
      );
    }
    return rules ?? [];
  }

  #reject(name: string, value: string | undefined, expected: string): void {
    const shown =
      value === undefined ? 'not set' : JSON.stringify(value.slice(0, SHOWN_VALUE_LENGTH));
    this.errors.push(`environment variable ${name}: ${shown}: expected ${expected}`);
  }
}

const ACTIONS = ['Restart', 'RestartPod', 'RestartAllContainers', 'Terminate'] as const;

function parseRules(text: string): readonly ContainerRestartRule[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(parsed) && parsed.every(isRule) ? parsed : undefined;
}

function isRule(value: unknown): value is ContainerRestartRule {
  if (typeof value !== 'object' || value === null) return false;
  const action = 'action' in value ? value.action : undefined;
  const exitCodes = 'exitCodes' in value ? value.exitCodes : undefined;
  if (!ACTIONS.some((known) => known === action)) return false;
  if (typeof exitCodes !== 'object' || exitCodes === null) return false;
  const operator = 'operator' in exitCodes ? exitCodes.operator : undefined;
  const values = 'values' in exitCodes ? exitCodes.values : [];
  return (
    (operator === 'In' || operator === 'NotIn') && Array.isArray(values) && values.every(isExitCode)
  );
}

function isExitCode(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}
