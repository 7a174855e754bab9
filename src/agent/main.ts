/**
 * The agent's process: configuration from the environment, the adapters of the ports, signals and
 * exit codes. It is bundled into one file and runs in every worker Pod, so it imports little.
 */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import { inClusterAccess } from '@lockstep/kube/runtime/adapters/in-cluster.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { ClusterAccessError } from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { LogFields, Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ProcessSignal } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { TlsSessionStore } from '@lockstep/kube/runtime/ports/tls-session.ts';
import { exitCodeOfSignal } from '@lockstep/kube/runtime/process-exit.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { AGENT_COMMAND } from '../jobset/names.ts';
import { InstallError, installAgent } from './adapters/agent-files.ts';
import { createHubClient } from './adapters/hub-client.ts';
import { createJsonLinesLogger } from './adapters/json-lines-logger.ts';
import { createMarkerDirectory } from './adapters/marker-directory.ts';
import { type OutputSink, openSink } from './adapters/output-sink.ts';
import { createOwnSupervisor, NoShellError } from './adapters/own-supervisor.ts';
import { probeFromPod } from './adapters/pod-probe.ts';
import { openProgressFile } from './adapters/progress-file.ts';
import { openRankFiles } from './adapters/rank-files.ts';
import { createSessionFile, type SessionPeer } from './adapters/session-file.ts';
import { showMembers } from './adapters/shown-members.ts';
import { type Agent, type Body, startAgent } from './agent.ts';
import { createApiChannel } from './api-channel.ts';
import type { LeaveReason } from './barrier-state.ts';
import type { Channel } from './channel.ts';
import { type Configuration, readConfiguration, USAGE } from './configuration.ts';
import { createFallbackChannel } from './fallback-channel.ts';
import { createHubChannel } from './hub-channel.ts';
import { type Marker, type MarkerStore, NO_MARKER, processMarkerStore } from './marker.ts';
import { createMarkerFile } from './marker-file.ts';
import { createMemberPage } from './member-page.ts';
import { probeLine } from './probe-report.ts';
import { createSidecar } from './sidecar.ts';
import type { Supervisor } from './supervisor.ts';
import { exitCodeOf } from './worker-exit.ts';

const FAILURE_EXIT_CODE = 1;

/** Limits one try of a request. A server that takes longer is asked again. */
const REQUEST_TIMEOUT_MS = 15_000;
/** One for the watch, and one for everything else, one request after the other. */
const MAX_CONNECTIONS = 2;

async function main(): Promise<number> {
  const result = readConfiguration(process.argv.slice(2), process.env);
  switch (result.type) {
    case 'Help':
      process.stdout.write(USAGE);
      return 0;
    case 'Version':
      process.stdout.write(`${packageJson.version}\n`);
      return 0;
    case 'Install':
      return install(result.directory);
    case 'Probe': {
      const report = await probeFromPod(result.hub, result.root, packageJson.version);
      process.stdout.write(`${probeLine(report)}\n`);
      return 0;
    }
    case 'Errors':
      for (const error of result.errors) process.stderr.write(`${AGENT_COMMAND}: ${error}\n`);
      return FAILURE_EXIT_CODE;
    case 'Configuration':
      return run(result.configuration);
  }
}

async function install(directory: string): Promise<number> {
  try {
    await installAgent(fileURLToPath(import.meta.url), directory);
    return 0;
  } catch (error) {
    if (!(error instanceof InstallError)) throw error;
    process.stderr.write(`${AGENT_COMMAND}: ${error.message}\n`);
    return FAILURE_EXIT_CODE;
  }
}

async function run(configuration: Configuration): Promise<number> {
  const { namespace, podName: pod, jobSetName: jobset } = configuration;
  const place = namespace === undefined ? { pod, jobset } : { namespace, pod, jobset };
  const log = openLog(configuration, { logger: 'agent', ...place });
  const { logger } = log;
  // Signals count from the first moment: an agent that is told to end must not miss it.
  const signals = new Signals();
  try {
    const reason = await agentOf(configuration, signals, log);
    return codeAfter(reason, configuration, signals);
  } catch (error) {
    const isTold = error instanceof ClusterAccessError || error instanceof NoShellError;
    logger.error('the agent cannot go on', { err: isTold ? error.message : String(error) });
    return FAILURE_EXIT_CODE;
  } finally {
    await log.flushed();
  }
}

interface Log {
  readonly logger: Logger;
  /** Our standard error, if a supervised worker shares it. */
  readonly errors: OutputSink | undefined;
  /** Resolves once all lines have gone out, or a reader is too slow. */
  flushed(): Promise<void>;
}

/** Further lines are dropped while nobody reads the log. */
const MAX_LOG_BYTES = 1024 * 1024;
const FLUSH_LIMIT_MS = 1000;

/** A supervisor writes its lines to the same place as its worker, and never waits. */
function openLog({ worker }: Configuration, fields: LogFields): Log {
  if (worker === undefined) {
    const logger = createJsonLinesLogger().with(fields);
    return { logger, errors: undefined, flushed: () => Promise.resolve() };
  }
  const errors = openSink(2);
  const write = (line: string): void => {
    if (errors.waiting < MAX_LOG_BYTES) errors.write(line);
  };
  return {
    logger: createJsonLinesLogger(write, fields),
    errors,
    flushed: async () => {
      if (errors.waiting === 0) return;
      const drained = new Promise<void>((resolve) => errors.drained(resolve));
      await endsWithin(nodeClock, FLUSH_LIMIT_MS, drained);
    },
  };
}

function codeAfter(reason: LeaveReason, configuration: Configuration, signals: Signals): number {
  // Upstream's agent reports the signal even if its worker handled it well, and users' rules rely
  // on that.
  if (configuration.dialect === 'Upstream' && signals.ending !== undefined) {
    return exitCodeOfSignal(signals.ending);
  }
  switch (reason.type) {
    case 'EpochOver':
    case 'CutOff':
    case 'Hung':
      return configuration.restartExitCode;
    case 'Signal':
      return exitCodeOfSignal(reason.signal);
    case 'WorkerExit':
      return exitCodeOf(reason.end.exit);
  }
}

async function agentOf(
  configuration: Configuration,
  signals: Signals,
  { logger, errors }: Log,
): Promise<LeaveReason> {
  const { worker } = configuration;
  const supervisor =
    worker === undefined || errors === undefined
      ? undefined
      : createOwnSupervisor({ configuration, worker, errors, logger });
  const markers = markersOf(configuration, logger);
  const marker = (await markers.read()) ?? NO_MARKER;
  const channel = await channelOf(configuration, marker, logger);
  const body: Body = supervisor ?? (await startSidecar(configuration, logger));
  const { jobSetUid, leaseMs, ownRanks } = configuration;
  const lease = leaseMs === undefined ? undefined : { random: systemRandom, leaseMs };
  const clock = nodeClock;
  const known = { jobSetUid, marker, markers, ownRanks };
  const agent = startAgent({ ...known, channel, body, clock, logger, lease });
  signals.deliver(agent, supervisor);
  return agent.left;
}

async function channelOf(
  configuration: Configuration,
  marker: Marker,
  logger: Logger,
): Promise<Channel> {
  const { hub } = configuration;
  if (hub === undefined) {
    const connection = await connect(configuration);
    return apiChannel(configuration, connection, marker.announced, logger);
  }
  const { jobSetUid, root } = configuration;
  // A person who looks for a cause needs the address in each line about the hub.
  const runtime = { clock: nodeClock, random: systemRandom, logger: logger.with({ hub: hub.url }) };
  const { connector, readPage } = createHubClient({
    ...runtime,
    hub,
    root,
    sessions: (authorities) => sessionsOf(configuration, { url: hub.url, authorities }, logger),
  });
  if (jobSetUid !== undefined) {
    const handler = createMemberPage({ clock: nodeClock, jobSetUid, ask: readPage });
    await showMembers(handler, configuration.podIP, logger);
  }
  const connection = hub.hasFallback ? await connectIfAllowed(configuration, logger) : undefined;
  if (connection === undefined) return createHubChannel({ ...runtime, connector, jobSetUid });
  return createFallbackChannel({
    ...runtime,
    hub: (contact) => createHubChannel({ ...runtime, connector, jobSetUid, contact }),
    // The Pod's annotations are not known; the first patch shows them.
    api: () => apiChannel(configuration, connection, 0, logger),
  });
}

interface ApiConnection {
  readonly client: Client;
  /** The namespace of the Pod. */
  readonly namespace: string;
}

function apiChannel(
  configuration: Configuration,
  { client, namespace }: ApiConnection,
  announced: number,
  logger: Logger,
): Channel {
  return createApiChannel({
    ...configuration,
    client,
    clock: nodeClock,
    random: systemRandom,
    logger,
    namespace: configuration.namespace ?? namespace,
    announced,
  });
}

/** Undefined for a Pod without a token for the API server: then there is only the hub. */
async function connectIfAllowed(
  configuration: Configuration,
  logger: Logger,
): Promise<ApiConnection | undefined> {
  try {
    return await connect(configuration);
  } catch (error) {
    if (!(error instanceof ClusterAccessError)) throw error;
    logger.info('cannot reach the API server: speaks to the hub alone', { err: error.message });
    return undefined;
  }
}

/** Connects to the API server as the Pod's service account. */
async function connect({ root: configured }: Configuration): Promise<ApiConnection> {
  const root = configured === '' ? '/' : configured;
  const access = await inClusterAccess(process.env, root);
  const { client } = connectClient(access, {
    clock: nodeClock,
    random: systemRandom,
    userAgent: `${AGENT_COMMAND}/${packageJson.version}`,
    maxConnections: MAX_CONNECTIONS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  return { client, namespace: access.namespace };
}

function markersOf(configuration: Configuration, logger: Logger): MarkerStore {
  const { markerDirectory, root } = configuration;
  if (markerDirectory !== undefined) {
    return createMarkerFile(createMarkerDirectory(join(root, markerDirectory)), logger);
  }
  logger.warn('no marker directory: a restart at the barrier will restart the group once more');
  return processMarkerStore();
}

/**
 * Chooses where TLS sessions are kept. A sidecar is a new process after each restart, so it needs a
 * file. A supervisor runs longer than its workers, which could read a file, so it keeps its sessions
 * in memory.
 */
function sessionsOf(
  { markerDirectory, root, worker }: Configuration,
  hub: SessionPeer,
  logger: Logger,
): TlsSessionStore | undefined {
  if (markerDirectory === undefined || worker !== undefined) return undefined;
  return createSessionFile(join(root, markerDirectory), hub, logger);
}

async function startSidecar(configuration: Configuration, logger: Logger): Promise<Body> {
  const { podIP, barrierPort: port, barrierPath, root, progressFile } = configuration;
  const options = { path: join(root, progressFile), mayBeOld: true, logger };
  const [file, ranks] = [openProgressFile(options), openRankFiles(options)];
  const sidecar = createSidecar(nodeClock, barrierPath, { file, ranks, logger });
  const { handler } = sidecar;
  if (podIP !== undefined) await startHttpServer({ handler, host: podIP, port });
  else {
    await startHttpServer({ handler, host: '::', port }).catch((error: unknown) => {
      // A machine without IPv6 has no `::`.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAFNOSUPPORT'))
        throw error;
      return startHttpServer({ handler, host: '0.0.0.0', port });
    });
  }
  return sidecar;
}

const FORWARDED: readonly ProcessSignal[] = [
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGWINCH',
];
/** Signals that end a process by default and that a supervisor forwards. */
const ENDING: ReadonlySet<ProcessSignal> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

/** Takes signals for the agent, and keeps those that arrive before it exists. */
class Signals {
  /** The first signal that asked the agent to end. */
  ending: ProcessSignal | undefined;
  readonly #early: ProcessSignal[] = [];
  #take: (signal: ProcessSignal) => void = (signal) => this.#early.push(signal);

  constructor() {
    for (const signal of FORWARDED) process.on(signal, () => this.#take(signal));
  }

  /** SIGTERM ends the agent. Other signals go to the worker, or end an agent that has none. */
  deliver(agent: Agent, supervisor: Supervisor | undefined): void {
    this.#take = (signal) => {
      const hasWorker = supervisor?.forward(signal) ?? false;
      if (signal !== 'SIGTERM' && (hasWorker || !ENDING.has(signal))) return;
      this.ending ??= signal;
      agent.stop(signal);
    };
    for (const signal of this.#early) this.#take(signal);
  }
}

// Open watches and connections would keep the process alive, so it exits explicitly.
process.exit(await main());
