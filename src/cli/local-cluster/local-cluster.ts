/**
 * What `up` and `demo` run: a Kubernetes, embedded or joined, with this machine as its nodes; the
 * operator as a process beside it; and a watchdog over everything that must not outlive this
 * process.
 */
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EmbeddedClusterOptions, NodeDescription } from '@lockstep/embedded-kubernetes';
import { forkNode, type NodeChild } from '@lockstep/embedded-kubernetes/node-process';
import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { createPinoLogger } from '@lockstep/kube/runtime/adapters/pino-logger.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import type { AgentChannel } from '../../jobset/injection/agent-hub.ts';
import { OPERATOR_NODE_OPTIONS } from '../../operator/configuration/object-names.ts';
import { type ControlCommand, serveControl } from '../node-control/control-socket.ts';
import { PORTS } from '../ports.ts';
import { machinePorts } from '../shared-ports/adapters/socket-owners.ts';
import { watchPorts } from '../shared-ports/port-watch.ts';
import type { StateDirectory } from '../state-directory.ts';
import { Watchdog } from '../watchdog/watchdog.ts';
import { joinRunning, startEmbedded } from './control-plane.ts';
import { lastErrors } from './last-errors.ts';
import { metricsOf, ownFamilies } from './operator-metrics.ts';
import { type OperatorChild, OperatorProcess } from './operator-process.ts';
import { untilReady } from './until-ready.ts';
import { DEFAULT_AGENT_CHANNEL, DEFAULT_START_MS, plainNodes } from './up-options.ts';

export interface LocalCluster {
  readonly client: Client;
  /** The kubeconfig for kubectl. */
  readonly kubeconfig: string;
  readonly stateDirectory: string;
  /** The process ID of the current operator, or the last one. */
  readonly operatorPid: () => number;
  stop(): Promise<void>;
}

export interface LocalClusterOptions {
  readonly state: StateDirectory;
  /** Whether the watchdog removes the state directory if this process is killed. */
  readonly remove: boolean;
  /** By default one, without extra labels. */
  readonly nodes?: readonly NodeDescription[] | undefined;
  /** The kubeconfig of a running cluster to join; if absent, one is embedded. */
  readonly kubeconfig?: string | undefined;
  readonly agentChannel?: AgentChannel | undefined;
  /** Further flags of the operator. */
  readonly operatorFlags?: readonly string[];
  /** Makes each node of an embedded cluster a process of its own, for `lockstep node`. */
  readonly ownProcesses?: boolean;
  /** How long a node may be silent until it counts as lost; 40 s by default. */
  readonly nodeMonitorGraceMs?: number | undefined;
  /** How long to wait until it serves JobSets. */
  readonly startMs?: number | undefined;
  /** Called when `lockstep down` asks for the end; absent: the cluster ends by itself. */
  readonly onEndAsked?: () => void;
  /** Called with a line about Pods that share a port. */
  readonly onPortConflict?: (line: string) => void;
  /** The operator has ended by itself, and is started again after that time. */
  readonly onOperatorEnd?: (how: string, restartMs: number) => void;
  readonly signal: AbortSignal;
}

/** `dist/`, even if this runs from the sources. */
const DIST = new URL(import.meta.url.includes('/dist/') ? './' : '../../../dist/', import.meta.url);

export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { state, nodes = plainNodes(1), agentChannel = DEFAULT_AGENT_CHANNEL } = options;
  const logFile = join(state.path, 'cluster.log');
  const log = openSync(logFile, 'a', 0o600);
  const logger = createPinoLogger({ destination: log, level: 'info' });
  const script = fileURLToPath(new URL('watchdog.js', DIST));
  const watchdog = Watchdog.start(script, state.path, options.remove, () =>
    logger.warn('the watchdog has ended, and another one starts'),
  );
  const stops: (() => Promise<void> | void)[] = [() => watchdog.release(), () => closeSync(log)];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const base = {
      ...PORTS,
      logger,
      processes: watchdog.guard(createNodeProcessRunner()),
      stateDirectory: state.path,
      path: containerPath(),
      nodes,
    };
    let operator: OperatorProcess | undefined;
    const moreMetrics = async (signal: AbortSignal): Promise<string> => {
      if (operator === undefined) throw new Error('the operator has not been started yet');
      return ownFamilies(await operator.metrics(signal));
    };
    const controlPlane =
      options.kubeconfig === undefined
        ? await startEmbedded(
            { ...base, ...nodeOptions(options, watchdog, log), moreMetrics },
            state.kubeconfig,
          )
        : await joinRunning(base, options.kubeconfig, options.signal);
    stops.push(() => controlPlane.stop());
    const { client, kubeconfig, operatorFlags, nodes: ownNodes } = controlPlane;
    const carryOut = async (command: ControlCommand): Promise<void> => {
      if (command.action === 'end') {
        if (options.onEndAsked === undefined) throw new Error('this cluster ends by itself');
        options.onEndAsked();
      } else if (ownNodes === undefined) {
        throw new Error('the nodes of this cluster are not separate processes');
      } else await ownNodes.act(command.node, command.action);
    };
    stops.push(await serveControl(state.path, carryOut));
    // Our nodes have no images, and the agent is on the PATH of every container.
    const agent = ['--agent-delivery', 'WorkerImage', '--agent-channel', agentChannel];
    const more = options.operatorFlags ?? [];
    const flags = [...operatorFlags, ...agent, ...(await portFlags()), ...more];
    let isReady = false;
    const running = new OperatorProcess({
      ...base,
      spawn: () => {
        const child = spawnOperator(flags, log, logFile);
        watchdog.watch(child.pid, child.exited);
        return child;
      },
      onEnd: (how, restartMs) => {
        if (isReady) options.onOperatorEnd?.(how, restartMs);
      },
    });
    operator = running;
    stops.push(() => running.stop());

    const { startMs: timeoutMs = DEFAULT_START_MS, signal } = options;
    const names = nodes.map(({ name }) => name);
    const ended = running.exited.then((how) => {
      throw new Error(`${how} (${logFile} has more)`);
    });
    const ready = untilReady(client, names, { ...base, timeoutMs, signal });
    await Promise.race([ready, ended]).catch((error: unknown) => {
      if (!(error instanceof DeadlineError)) throw error;
      throw new Error(`${error.message} (${logFile} has more; --timeout is how long to wait)`);
    });
    isReady = true;
    if (options.onPortConflict !== undefined) {
      const onConflict = options.onPortConflict;
      stops.push(watchPorts({ ...base, client, nodes: names, ports: machinePorts(), onConflict }));
    }
    const operatorPid = (): number => running.pid;
    return { client, kubeconfig, stateDirectory: state.path, operatorPid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function nodeOptions(
  { ownProcesses, nodeMonitorGraceMs }: LocalClusterOptions,
  watchdog: Watchdog,
  log: number,
): Pick<EmbeddedClusterOptions, 'spawnNode' | 'nodeMonitorGraceMs'> {
  if (ownProcesses !== true) return { nodeMonitorGraceMs };
  const script = fileURLToPath(new URL('node.js', DIST));
  const spawnNode = (): NodeChild => {
    const child = forkNode(script, log);
    watchdog.watch(child.pid, child.exited);
    return child;
  };
  return { spawnNode, nodeMonitorGraceMs };
}

/** The programs of this package, then Node's directory, then the user's own PATH. */
function containerPath(): string {
  const programs = fileURLToPath(new URL('bin', DIST));
  return [programs, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
}

/** Fixed ports, so that agents and the API server find a restarted operator at the same address. */
async function portFlags(): Promise<readonly string[]> {
  const [webhooks = 0, hub = 0] = await freePorts(2, PORTS.random);
  const host = '127.0.0.1';
  return ['--webhook-bind-address', `${host}:${webhooks}`, '--hub-bind-address', `${host}:${hub}`];
}

function spawnOperator(flags: readonly string[], log: number, logFile: string): OperatorChild {
  const fromByte = fstatSync(log).size;
  const script = fileURLToPath(new URL('operator.js', DIST));
  const program = [OPERATOR_NODE_OPTIONS, script, '--install-crd', '--install-webhooks'];
  // A group of its own: a terminal's Ctrl-C must not end it before its cluster has been cleaned up.
  const child = spawn(process.execPath, [...program, ...flags], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      const how = `the operator ended with ${signal ?? `exit code ${code}`}`;
      // Who ends it with a signal knows why.
      const why = signal === null ? lastErrors(logFile, fromByte) : [];
      resolve([how, ...why].join(': '));
    });
  });
  return {
    pid: child.pid ?? 0,
    exited,
    signal: (signal) => void child.kill(signal),
    metrics: metricsOf(child),
  };
}
