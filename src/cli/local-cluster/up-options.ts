/** The flags of `lockstep up`, checked together so that all wrong values are reported at once. */

import type { NodeDescription } from '@lockstep/embedded-kubernetes';
import {
  type BackoffSettings,
  isRestartPeriod,
  POD_NAMESPACES_MODES,
} from '@lockstep/embedded-kubernetes/node-settings';
import { parseDuration } from '@lockstep/kube/duration.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import { labelValueErrors, qualifiedNameErrors } from '@lockstep/kube/name-rules.ts';
import { AGENT_CHANNELS, type AgentChannel } from '../../jobset/injection/agent-hub.ts';
import { Arguments, type Parsed } from '../arguments.ts';

export interface UpOptions {
  readonly stateDirectory: string;
  readonly nodes: readonly NodeDescription[];
  /** The kubeconfig of the cluster to join; undefined: start one. */
  readonly kubeconfig: string | undefined;
  /** The channel between agents and the operator. */
  readonly agentChannel: AgentChannel;
  /** How long a node of an embedded cluster may be silent until it counts as lost. */
  readonly nodeMonitorGraceMs: number;
  /** How long to wait until it serves JobSets. */
  readonly startMs: number;
  /** Undefined: no dashboard. */
  readonly dashboardPort: number | undefined;
}

/** A machine that starts a joined cluster as well may take longer. */
export const DEFAULT_START_MS = 20_000;

export const DEFAULT_AGENT_CHANNEL: AgentChannel = 'Hub';

/** The texts of the flags as commander read them. */
export interface UpFlags {
  readonly stateDir: string;
  readonly nodes: string;
  readonly topology?: readonly string[];
  readonly kubeconfig?: string;
  readonly agentChannel: string;
  readonly nodeMonitorGracePeriod: string;
  /** By default `DEFAULT_START_MS`. */
  readonly timeout?: string;
  readonly maxContainerRestartPeriod?: string;
  readonly reducedCrashLoopDecay?: boolean;
  readonly podNamespaces?: string;
  readonly dashboardPort: string;
}

/**
 * Each node is a process with some 70 MB, a server and a lease, and its own network of 127.0.0.0/8,
 * of which a machine has 254.
 */
export const NODES_MAX = 100;
export const MAX_PORT = 65_535;

const GRACE_MIN_MS = 1_000;
const GRACE_MAX_MS = 24 * 3_600_000;

/** `node-0`, `node-1`, ... without extra labels. */
export function plainNodes(count: number): readonly NodeDescription[] {
  return Array.from({ length: count }, (_, i) => ({ name: `node-${i}`, labels: {} }));
}

export function parseUpFlags(flags: UpFlags): Parsed<UpOptions> {
  const given = new Arguments();
  if (flags.stateDir === '') given.refuse('--state-dir is "", allowed is the path of a directory');
  const count = given.whole('--nodes', flags.nodes, [1, NODES_MAX]);
  const agentChannel = given.oneOf('--agent-channel', flags.agentChannel, AGENT_CHANNELS);
  const graceText = flags.nodeMonitorGracePeriod;
  const nodeMonitorGraceMs = parseDuration(graceText) ?? Number.NaN;
  if (!(nodeMonitorGraceMs >= GRACE_MIN_MS && nodeMonitorGraceMs <= GRACE_MAX_MS)) {
    given.refuse(
      `--node-monitor-grace-period is "${graceText}", allowed is a duration from 1s to 24h, such as 40s`,
    );
  }
  const { timeout = String(DEFAULT_START_MS / 1000) } = flags;
  const startMs = given.timeout(timeout, 'seconds') * 1000;
  const backoff = parseBackoff(flags);
  if (typeof backoff === 'string') given.refuse(backoff);
  const podNamespaces = given.oneOf('--pod-namespaces', flags.podNamespaces, POD_NAMESPACES_MODES);
  const ports = `are off and whole numbers from 0 to ${MAX_PORT}`;
  const dashboardPort =
    flags.dashboardPort === 'off'
      ? undefined
      : given.whole('--dashboard-port', flags.dashboardPort, [0, MAX_PORT], ports);
  const topologies: Topology[] = [];
  for (const text of flags.topology ?? []) {
    const parsed = parseTopology(text, Number.isNaN(count) ? NODES_MAX : count);
    if (typeof parsed === 'string') given.refuse(`--topology is "${text}", ${parsed}`);
    else if (topologies.some(({ key }) => key === parsed.key)) {
      given.refuse(
        `--topology is "${text}", allowed is each label once, and ${parsed.key} was given`,
      );
    } else topologies.push(parsed);
  }
  const nodes = plainNodes(count || 0).map(({ name }, i) => ({
    name,
    labels: Object.fromEntries(topologies.map((topology) => labelOf(topology, i, count))),
    ...(typeof backoff === 'object' ? { backoff } : {}),
    ...defined({ podNamespaces }),
  }));
  const { stateDir: stateDirectory, kubeconfig } = flags;
  const cluster = { stateDirectory, nodes, kubeconfig, nodeMonitorGraceMs, startMs, dashboardPort };
  return given.parsed({ ...cluster, agentChannel: agentChannel ?? DEFAULT_AGENT_CHANNEL });
}

/** Undefined if everything has its default, a text if the flag is wrong. */
function parseBackoff(flags: UpFlags): BackoffSettings | string | undefined {
  const { maxContainerRestartPeriod: text, reducedCrashLoopDecay } = flags;
  if (text === undefined && reducedCrashLoopDecay !== true) return undefined;
  const reduced = reducedCrashLoopDecay === true ? { reduceDefaultDecay: true } : {};
  if (text === undefined) return reduced;
  const maxContainerRestartPeriodMs = parseDuration(text) ?? Number.NaN;
  if (isRestartPeriod(maxContainerRestartPeriodMs)) {
    return { ...reduced, maxContainerRestartPeriodMs };
  }
  return `--max-container-restart-period is "${text}", allowed is a duration from 1s to 5m, such as 10s`;
}

/** A node label and its number of values. */
interface Topology {
  readonly key: string;
  readonly values: number;
}

/** Labels that every node already has. */
const GIVEN_LABELS = ['kubernetes.io/hostname', 'kubernetes.io/arch', 'kubernetes.io/os'];

function parseTopology(text: string, nodes: number): Topology | string {
  const match = /^(.*)=(\d{1,9})$/.exec(text);
  const [key, values] = [match?.[1] ?? '', Number(match?.[2])];
  if (match === null || values < 1 || values > nodes) {
    return `allowed is LABEL=COUNT with a count from 1 to the number of nodes, such as rack=${nodes}`;
  }
  const [problem] = qualifiedNameErrors(key);
  if (problem !== undefined) return `allowed is the key of a label before the "=": ${problem}`;
  if (GIVEN_LABELS.includes(key)) return 'allowed is any label but those that every node has';
  const [tooLong] = labelValueErrors(valueAt(key, values - 1));
  return tooLong === undefined ? { key, values } : `allowed is a shorter label: ${tooLong}`;
}

/**
 * Neighbouring nodes share a value, and all values have the same number of nodes, give or take one.
 * So a topology with more values divides one with fewer: racks lie in zones.
 */
function labelOf({ key, values }: Topology, node: number, nodes: number): [string, string] {
  return [key, valueAt(key, Math.floor((node * values) / nodes))];
}

/** `rack-0` for both `rack` and `example.com/rack`. */
function valueAt(key: string, index: number): string {
  return `${key.slice(key.lastIndexOf('/') + 1)}-${index}`;
}
