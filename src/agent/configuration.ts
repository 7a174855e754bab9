/**
 * Reads the agent's configuration from its command line and environment, in one of two dialects:
 * ours if a variable that only we have is set, otherwise upstream's. Reports all problems together,
 * each with the variable, its value and what was expected.
 */

import type { ContainerRestartRule } from '@lockstep/kube/objects/pod.ts';
import { OFF } from '../jobset/annotations/table.ts';
import {
  LOST_NODE_MARGIN_MS,
  leaseMs,
  MIN_LEASE_MS,
  MIN_LOST_NODE_DEADLINE_MS,
  parseLostNodeDeadline,
} from '../jobset/injection/lost-node-deadline.ts';
import {
  AGENT_COMMAND,
  AGENT_INSTALL_FLAG,
  AGENT_PROBE_FLAG,
  BARRIER_PATH,
  BARRIER_PORT,
  DEFAULT_RESTART_EXIT_CODE,
  ENV_AGENT_CHANNEL,
  ENV_EMBEDDED_POD_IP,
  ENV_EXIT_CODE,
  ENV_HANG_COMMAND,
  ENV_HUB_CA,
  ENV_HUB_URL,
  ENV_JOB_INDEX,
  ENV_JOBSET_NAME,
  ENV_JOBSET_UID,
  ENV_LAST_WORDS,
  ENV_LOG_PREFIX,
  ENV_LOST_NODE_DEADLINE,
  ENV_MARKER_DIRECTORY,
  ENV_NAMESPACE,
  ENV_POD_IP,
  ENV_POD_NAME,
  ENV_POD_UID,
  ENV_PORT_PREFIX,
  ENV_PREFLIGHT,
  ENV_PROCESSES_PER_POD,
  ENV_PROGRESS_FILE,
  ENV_PROGRESS_PREFIX,
  ENV_REPLICATED_JOB_NAME,
  ENV_RESTART_RULES,
  ENV_ROOT,
  ENV_STANDBY_MODE,
  ENV_STOP_GRACE_SECONDS,
  ENV_TERMINATION_MESSAGE_PATH,
  ONLY_CANONICAL_ENV,
  PROGRESS_DIRECTORY,
  UPSTREAM_BARRIER_PATH,
  UPSTREAM_BARRIER_PORT,
  UPSTREAM_DEFAULT_RESTART_EXIT_CODE,
  UPSTREAM_ENV_EXIT_CODE,
  UPSTREAM_ENV_PROBE_PATH,
  UPSTREAM_ENV_PROBE_PORT,
  UPSTREAM_ENV_WORKER_COMMAND,
} from '../jobset/names.ts';
import { type Environment, EnvironmentReader } from './environment.ts';
import { type HubConfiguration, hubOf } from './hub-configuration.ts';
import { type OwnRanks, ownRanksOf } from './own-ranks.ts';
import type { Dialect } from './pod-annotations.ts';

const LAST_WORDS_SOURCES = ['All', 'Files', 'Off'] as const;
type LastWordsSource = (typeof LAST_WORDS_SOURCES)[number];

export interface Configuration {
  readonly dialect: Dialect;
  /** The command that a supervisor runs; undefined: sidecar. */
  readonly worker: WorkerCommand | undefined;
  /** Undefined: taken from the files of the Pod's service account. */
  readonly namespace: string | undefined;
  readonly podName: string;
  readonly podUid: string | undefined;
  /** Where the barrier listens; undefined: on all addresses. */
  readonly podIP: string | undefined;
  readonly barrierPort: number;
  readonly barrierPath: string;
  readonly jobSetName: string;
  /** Undefined: taken from the labels of the Pod, as is the JobSet's name. */
  readonly jobSetUid: string | undefined;
  readonly replicatedJobName: string | undefined;
  /** 1 to 255. */
  readonly restartExitCode: number;
  /** A path below `root`. Undefined: the marker is kept in memory. */
  readonly markerDirectory: string | undefined;
  /**
   * The rules by which a supervisor judges its worker's exit. Undefined: the rules are not known,
   * so the agent leaves the container with the worker's exit code and the kubelet applies them.
   */
  readonly restartRules: readonly ContainerRestartRule[] | undefined;
  readonly stopGraceMs: number;
  /** A sidecar's: where the worker reports its progress, below `root`. */
  readonly progressFile: string;
  /** A supervisor's: the text before the step in a line that the worker prints. */
  readonly progressPrefix: string | undefined;
  /** A supervisor's: whether it keeps a warm standby of its worker. */
  readonly hasStandby: boolean;
  /** A supervisor's: a line of shell that looks into a hung worker. */
  readonly hangCommand: string | undefined;
  /** For a supervisor: a line of shell that checks the machine after a worker that failed. */
  readonly preflight: string | undefined;
  /** Where a supervisor looks for its worker's last words; `Files`: not in its standard error. */
  readonly lastWords: LastWordsSource;
  /** A path below `root`. */
  readonly terminationMessagePath: string;
  /** A supervisor's: it starts ranks; undefined: it runs the command once, which is no rank. */
  readonly ownRanks: OwnRanks | undefined;
  /** How long a worker may run without confirmation that its Pod exists; undefined: for ever. */
  readonly leaseMs: number | undefined;
  /** Undefined: the agent uses the API server alone. */
  readonly hub: HubConfiguration | undefined;
  /** The directory that stands for `/`; empty if that is `/` itself. */
  readonly root: string;
}

export type WorkerCommand =
  | { readonly kind: 'Arguments'; readonly argv: readonly [string, ...string[]] }
  /** A line for `shell`, by default the machine's bash. */
  | { readonly kind: 'Shell'; readonly line: string; readonly shell: string | undefined };

export type ConfigurationResult =
  | { readonly type: 'Configuration'; readonly configuration: Configuration }
  | { readonly type: 'Help' | 'Version' }
  /** The agent copies itself into this directory. */
  | { readonly type: 'Install'; readonly directory: string }
  /** The agent reports what it reaches from its Pod. */
  | { readonly type: 'Probe'; readonly hub: HubConfiguration | undefined; readonly root: string }
  | { readonly type: 'Errors'; readonly errors: readonly string[] };

export const USAGE = `Usage: ${AGENT_COMMAND} [-- COMMAND [ARGUMENT]...]

The agent of one Pod of a JobSet that restarts in place. Without a command it is a
sidecar: its barrier is GET ${BARRIER_PATH} on port ${BARRIER_PORT}. With a command it is a
supervisor: it starts the command when the barrier lifts and restarts it with its group.

Environment:
  ${ENV_NAMESPACE}, ${ENV_POD_NAME}, ${ENV_JOBSET_NAME}   the Pod and its JobSet (required)
  ${ENV_POD_UID}, ${ENV_JOBSET_UID}             ignore others of the same name
  ${ENV_REPLICATED_JOB_NAME}            the ReplicatedJob of the Pod
  ${ENV_POD_IP}                         address of the barrier (default: all)
  ${ENV_EXIT_CODE}  exit code that asks for a restart (default ${DEFAULT_RESTART_EXIT_CODE})
  ${ENV_MARKER_DIRECTORY}      directory that outlives the container
  ${ENV_RESTART_RULES}         supervisor: the container's restartPolicyRules, JSON
  ${ENV_STOP_GRACE_SECONDS}    supervisor: from SIGTERM to SIGKILL (default 5)
  ${ENV_PROGRESS_PREFIX}       supervisor: text before the step in the worker's output
  ${ENV_STANDBY_MODE}          supervisor: Warm to keep a standby of the worker
  ${ENV_PROCESSES_PER_POD}     supervisor: how many ranks it starts, with ${ENV_JOB_INDEX}
  ${ENV_LOG_PREFIX}            supervisor: Off leaves lines of ranks without a prefix
  ${ENV_HANG_COMMAND}          supervisor: a line for sh that looks into a hung worker
  ${ENV_PREFLIGHT}             supervisor: a line for sh that checks the machine after a failure
  ${ENV_LAST_WORDS}            supervisor: All, Files to leave standard error alone, or Off
  ${ENV_TERMINATION_MESSAGE_PATH}  supervisor: the container's terminationMessagePath
  ${ENV_PROGRESS_FILE}         sidecar: where its workers report progress
  ${ENV_LOST_NODE_DEADLINE}    duration after which an unreachable Pod counts as dead
  ${ENV_HUB_URL}, ${ENV_HUB_CA}      the operator's hub, and its authorities (PEM)
  ${ENV_AGENT_CHANNEL}         Auto (the hub, or the API server without it), Hub or API

Where none of ${ENV_NAMESPACE}, ${ENV_JOBSET_UID} and ${ENV_EXIT_CODE}
is set, it replaces upstream's agent and announces attempts:
  ${ENV_POD_NAME}, ${ENV_JOBSET_NAME}            the Pod and its JobSet (required)
  ${UPSTREAM_ENV_EXIT_CODE}     exit code that asks for a restart (default ${UPSTREAM_DEFAULT_RESTART_EXIT_CODE})
  ${UPSTREAM_ENV_PROBE_PATH}, ${UPSTREAM_ENV_PROBE_PORT}  the barrier (default ${UPSTREAM_BARRIER_PATH}, ${UPSTREAM_BARRIER_PORT})
  ${UPSTREAM_ENV_WORKER_COMMAND}                 supervisor: the worker, for $SHELL or bash

  --install DIRECTORY  copy the agent there, with all that it needs in any image
  --probe    print what it reaches from here, the hub and the API server, as JSON
  --help     print this
  --version  print the version
`;

const DEFAULT_TERMINATION_MESSAGE_PATH = '/dev/termination-log';
const MAX_PREFIX_LENGTH = 64;
const DEFAULT_STOP_GRACE_SECONDS = 5;
/** One hour. A higher value is probably in the wrong unit. */
const MAX_STOP_GRACE_SECONDS = 3600;

export function readConfiguration(
  args: readonly string[],
  environment: Environment,
): ConfigurationResult {
  const [first, ...command] = args;
  if (first === '--help' || first === '-h') return { type: 'Help' };
  if (first === '--version') return { type: 'Version' };
  if (first === AGENT_INSTALL_FLAG) return installation(command);
  const read = new EnvironmentReader(environment);
  if (first === AGENT_PROBE_FLAG) {
    const hub = hubOf(read);
    const root = read.optional(ENV_ROOT) ?? '';
    const { errors } = read;
    return errors.length > 0 ? { type: 'Errors', errors } : { type: 'Probe', hub, root };
  }
  const dialect = ONLY_CANONICAL_ENV.some((name) => read.optional(name) !== undefined)
    ? 'Canonical'
    : 'Upstream';
  const own = argumentsOf(first, command, read);
  const stopGraceMs =
    1000 *
    read.integer(ENV_STOP_GRACE_SECONDS, DEFAULT_STOP_GRACE_SECONDS, 0, MAX_STOP_GRACE_SECONDS);
  const specific = dialect === 'Canonical' ? canonical(read) : upstreams(read, own !== undefined);
  const configuration: Configuration = {
    dialect,
    ...specific,
    worker: specific.worker ?? own,
    podName: read.required(ENV_POD_NAME, 'the name of the Pod'),
    podUid: read.optional(ENV_POD_UID),
    podIP: read.optional(ENV_POD_IP) ?? read.optional(ENV_EMBEDDED_POD_IP),
    barrierPort: read.port(`${ENV_PORT_PREFIX}${specific.barrierPort}`) ?? specific.barrierPort,
    jobSetName: read.required(ENV_JOBSET_NAME, 'the name of the JobSet of the Pod'),
    jobSetUid: read.optional(ENV_JOBSET_UID),
    replicatedJobName: read.optional(ENV_REPLICATED_JOB_NAME),
    markerDirectory: read.optional(ENV_MARKER_DIRECTORY),
    stopGraceMs,
    progressFile: read.optional(ENV_PROGRESS_FILE) ?? `${PROGRESS_DIRECTORY}/progress`,
    progressPrefix: prefixOf(read),
    hasStandby: hasStandby(read),
    hangCommand: read.optional(ENV_HANG_COMMAND),
    preflight: read.optional(ENV_PREFLIGHT),
    lastWords: lastWordsOf(read),
    terminationMessagePath:
      read.optional(ENV_TERMINATION_MESSAGE_PATH) ?? DEFAULT_TERMINATION_MESSAGE_PATH,
    ownRanks: ownRanksOf(read),
    leaseMs: leaseOf(read, stopGraceMs),
    hub: hubOf(read),
    root: read.optional(ENV_ROOT) ?? '',
  };
  return read.errors.length > 0
    ? { type: 'Errors', errors: read.errors }
    : { type: 'Configuration', configuration };
}

function prefixOf(read: EnvironmentReader): string | undefined {
  const prefix = read.optional(ENV_PROGRESS_PREFIX);
  // Characters count, as in the webhook, and not their halves in UTF-16.
  const length = Array.from(prefix ?? '').length;
  if (prefix !== undefined && (length > MAX_PREFIX_LENGTH || /[\r\n]/.test(prefix))) {
    read.reject(ENV_PROGRESS_PREFIX, `one line of 1 to ${MAX_PREFIX_LENGTH} characters`);
  }
  return prefix;
}

function lastWordsOf(read: EnvironmentReader): LastWordsSource {
  const words = read.optional(ENV_LAST_WORDS) ?? 'All';
  const source = LAST_WORDS_SOURCES.find((one) => one === words);
  if (source === undefined) read.reject(ENV_LAST_WORDS, LAST_WORDS_SOURCES.join(', '));
  return source ?? 'All';
}

function hasStandby(read: EnvironmentReader): boolean {
  const mode = read.optional(ENV_STANDBY_MODE);
  if (mode !== undefined && mode !== 'Warm') read.reject(ENV_STANDBY_MODE, 'Warm');
  return mode === 'Warm';
}

function installation(args: readonly string[]): ConfigurationResult {
  const [directory, ...others] = args;
  if (directory?.startsWith('/') === true && others.length === 0) {
    return { type: 'Install', directory };
  }
  const given = JSON.stringify(args.join(' '));
  return {
    type: 'Errors',
    errors: [`${AGENT_INSTALL_FLAG}: ${given}, expected one absolute path`],
  };
}

function leaseOf(read: EnvironmentReader, stopGraceMs: number): number | undefined {
  const text = read.optional(ENV_LOST_NODE_DEADLINE);
  // A template with an agent of its own may give it the value of the annotation.
  if (text === undefined || text === OFF) return undefined;
  const deadlineMs = parseLostNodeDeadline(text);
  const lease = leaseMs(deadlineMs ?? 0, stopGraceMs);
  if (deadlineMs !== undefined && lease >= MIN_LEASE_MS) return lease;
  const leastMs = Math.max(
    MIN_LOST_NODE_DEADLINE_MS,
    LOST_NODE_MARGIN_MS + stopGraceMs + MIN_LEASE_MS,
  );
  read.reject(
    ENV_LOST_NODE_DEADLINE,
    `Off, or a duration such as "5m", from ${leastMs / 1000}s (with ${stopGraceMs / 1000}s for the worker to stop) to 24h`,
  );
  return undefined;
}

/** The fields in which the dialects differ. */
type Specific = Pick<
  Configuration,
  'worker' | 'namespace' | 'restartExitCode' | 'barrierPort' | 'barrierPath' | 'restartRules'
>;

function canonical(read: EnvironmentReader): Specific {
  return {
    worker: undefined,
    namespace: read.required(ENV_NAMESPACE, 'the namespace of the Pod'),
    restartExitCode: read.integer(ENV_EXIT_CODE, DEFAULT_RESTART_EXIT_CODE, 1, 255),
    barrierPort: BARRIER_PORT,
    barrierPath: BARRIER_PATH,
    restartRules: read.rules(ENV_RESTART_RULES) ?? [],
  };
}

function upstreams(read: EnvironmentReader, hasArguments: boolean): Specific {
  const line = read.optional(UPSTREAM_ENV_WORKER_COMMAND);
  const path = read.optional(UPSTREAM_ENV_PROBE_PATH);
  const port = read.port(UPSTREAM_ENV_PROBE_PORT);
  if (line !== undefined && (path !== undefined || port !== undefined)) {
    const expected = `none beside ${UPSTREAM_ENV_PROBE_PATH} or ${UPSTREAM_ENV_PROBE_PORT}, which belong to a sidecar`;
    read.reject(UPSTREAM_ENV_WORKER_COMMAND, expected);
  }
  if (line !== undefined && hasArguments) {
    read.reject(UPSTREAM_ENV_WORKER_COMMAND, 'none beside a command after "--"');
  }
  return {
    worker: line === undefined ? undefined : { kind: 'Shell', line, shell: read.optional('SHELL') },
    namespace: undefined,
    restartExitCode: read.integer(
      UPSTREAM_ENV_EXIT_CODE,
      UPSTREAM_DEFAULT_RESTART_EXIT_CODE,
      1,
      255,
    ),
    barrierPort: port ?? UPSTREAM_BARRIER_PORT,
    barrierPath: path ?? UPSTREAM_BARRIER_PATH,
    restartRules: read.rules(ENV_RESTART_RULES),
  };
}

function argumentsOf(
  first: string | undefined,
  command: readonly string[],
  read: EnvironmentReader,
): WorkerCommand | undefined {
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
  return { kind: 'Arguments', argv: [program, ...rest] };
}
