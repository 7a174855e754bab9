/** The flags of `lockstep up`, checked together so that all wrong values are reported at once. */

import {
  type BackoffSettings,
  isRestartPeriod,
  type NodeDescription,
  POD_NAMESPACES_MODES,
} from '@lockstep/embedded-kubernetes';
import { parseDuration } from '@lockstep/kube/duration.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import { labelValueErrors, qualifiedNameErrors } from '@lockstep/kube/name-rules.ts';
import { AGENT_CHANNELS, type AgentChannel } from '../../jobset/injection/agent-hub.ts';
import type { Parsed } from '../usage-error.ts';

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
const MAX_START_SECONDS = 3600;

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

const GRACE_MIN_MS = 1_000;
const GRACE_MAX_MS = 24 * 3_600_000;

/** `node-0`, `node-1`, ... without extra labels. */
export function plainNodes(count: number): readonly NodeDescription[] {
  return Array.from({ length: count }, (_, i) => ({ name: `node-${i}`, labels: {} }));
}

export function parseUpFlags(flags: UpFlags): Parsed<UpOptions> {
  const errors: string[] = [];
  if (flags.stateDir === '') errors.push('--state-dir is "", allowed is the path of a directory');
  const count = /^\d{1,9}$/.test(flags.nodes) ? Number(flags.nodes) : Number.NaN;
  const isCount = count >= 1 && count <= NODES_MAX;
  if (!isCount) {
    errors.push(`--nodes is "${flags.nodes}", allowed is an integer from 1 to ${NODES_MAX}`);
  }
  const agentChannel = AGENT_CHANNELS.find((one) => one === flags.agentChannel);
  if (agentChannel === undefined) {
    const allowed = AGENT_CHANNELS.join(', ');
    errors.push(`--agent-channel is "${flags.agentChannel}", allowed are ${allowed}`);
  }
  const graceText = flags.nodeMonitorGracePeriod;
  const nodeMonitorGraceMs = parseDuration(graceText) ?? Number.NaN;
  if (!(nodeMonitorGraceMs >= GRACE_MIN_MS && nodeMonitorGraceMs <= GRACE_MAX_MS)) {
    errors.push(
      `--node-monitor-grace-period is "${graceText}", allowed is a duration from 1s to 24h, such as 40s`,
    );
  }
  const { timeout = String(DEFAULT_START_MS / 1000) } = flags;
  const startSeconds = /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (startSeconds < 1 || startSeconds > MAX_START_SECONDS) {
    errors.push(`--timeout is "${timeout}", allowed are seconds from 1 to ${MAX_START_SECONDS}`);
  }
  const backoff = parseBackoff(flags);
  if (typeof backoff === 'string') errors.push(backoff);
  const podNamespaces = POD_NAMESPACES_MODES.find((one) => one === flags.podNamespaces);
  if (podNamespaces === undefined && flags.podNamespaces !== undefined) {
    const allowed = POD_NAMESPACES_MODES.join(', ');
    errors.push(`--pod-namespaces is "${flags.podNamespaces}", allowed are ${allowed}`);
  }
  const dashboardPort = flags.dashboardPort === 'off' ? undefined : parsePort(flags.dashboardPort);
  if (dashboardPort === undefined && flags.dashboardPort !== 'off') {
    errors.push(
      `--dashboard-port is "${flags.dashboardPort}", allowed are off and whole numbers from 0 to 65535`,
    );
  }
  const topologies: Topology[] = [];
  for (const text of flags.topology ?? []) {
    const parsed = parseTopology(text, isCount ? count : NODES_MAX);
    if (typeof parsed === 'string') errors.push(`--topology is "${text}", ${parsed}`);
    else if (topologies.some(({ key }) => key === parsed.key)) {
      errors.push(
        `--topology is "${text}", allowed is each label once, and ${parsed.key} was given`,
      );
    } else topologies.push(parsed);
  }
  if (errors.length > 0 || agentChannel === undefined) return { errors };
  const nodes = plainNodes(count).map(({ name }, i) => ({
    name,
    labels: Object.fromEntries(topologies.map((topology) => labelOf(topology, i, count))),
    ...(typeof backoff === 'object' ? { backoff } : {}),
    ...defined({ podNamespaces }),
  }));
  const { stateDir: stateDirectory, kubeconfig } = flags;
  const cluster = { stateDirectory, nodes, kubeconfig, agentChannel, nodeMonitorGraceMs };
  return { options: { ...cluster, startMs: startSeconds * 1000, dashboardPort } };
}

/** Undefined for what is no port. */
export function parsePort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? port : undefined;
}

/** Undefined if everything has its default, a text if the flag is wrong. */
function parseBackoff({
  maxContainerRestartPeriod: text,
  reducedCrashLoopDecay,
}: UpFlags): BackoffSettings | string | undefined {
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
