/** What the nodes can do, which of them are silent, and which have a known bug. */

import { LEASES, type Lease } from '@lockstep/kube/objects/lease.ts';
import { isReady, NODES, type Node } from '@lockstep/kube/objects/node.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { type Some, someOf } from '@lockstep/kube/runtime/client/pages.ts';
import { counted } from '../../jobset/view/spec/asked.ts';
import { hasFeature } from '../../operator/tracking/node-features.ts';
import type { ApiServerFacts } from './api-server.ts';
import { type Asking, checkOf, type Fact, type Finding, fact, ifKnown, named } from './finding.ts';

const TOPIC = 'Nodes';
const NODE_LEASES = 'kube-node-lease';

export interface NodeFacts {
  readonly name: string;
  readonly kubelet: string;
  readonly isReady: boolean;
  readonly canRestartAll: boolean;
}

export interface NodeLease {
  readonly name: string;
  /** NaN if the lease says nothing. */
  readonly renewMs: number;
  readonly durationMs: number;
}

export interface NodesFacts {
  readonly nodes: Fact<Some<NodeFacts>>;
  readonly leases: Fact<Some<NodeLease>>;
  /** By the clock of this machine. */
  readonly nowMs: number;
}

export async function readNodes(client: Client, asking: Asking): Promise<NodesFacts> {
  const [nodes, leases] = await Promise.all([
    fact(asking, 'list nodes', (signal) =>
      someOf((page) => client.list(NODES, { ...page, signal }), nodeFacts),
    ),
    fact(asking, `list leases in namespace ${NODE_LEASES}`, (signal) =>
      someOf(
        (page) => client.list(LEASES, { namespace: NODE_LEASES, ...page, signal }),
        leaseFacts,
      ),
    ),
  ]);
  return { nodes, leases, nowMs: asking.clock.now() };
}

function nodeFacts(node: Node): NodeFacts {
  return {
    name: node.metadata.name ?? '',
    kubelet: node.status?.nodeInfo?.['kubeletVersion'] ?? '',
    isReady: isReady(node),
    canRestartAll: hasFeature(node),
  };
}

function leaseFacts({ metadata, spec = {} }: Lease): NodeLease {
  return {
    name: metadata.name ?? '',
    renewMs: Date.parse(spec.renewTime ?? ''),
    durationMs: (spec.leaseDurationSeconds ?? 0) * 1000,
  };
}

export function nodesFindings(
  { nodes, leases, nowMs }: NodesFacts,
  clock: ApiServerFacts['clock'],
): readonly Finding[] {
  return [
    ...ifKnown(nodes, checkOf(TOPIC, 'restart-in-place'), (some) => [
      restartInPlace(some),
      kubeletBugs(some),
      notReady(some),
    ]),
    ...ifKnown(leases, checkOf(TOPIC, 'node-leases'), (some) => {
      const offset = 'value' in clock ? clock.value : { aheadMs: 0, errorMs: 0 };
      return nodeClocks(some, nowMs + offset.aheadMs, offset.errorMs);
    }),
  ];
}

function restartInPlace({ items, isAll }: Some<NodeFacts>): Finding {
  const about = checkOf(TOPIC, 'restart-in-place');
  const able = items.filter(({ canRestartAll }) => canRestartAll).length;
  const count = `${able} of ${counted(items.length, 'node')}${isAll ? '' : ' that were read'}`;
  if (items.length === 0) return about.problem('there are no nodes');
  if (able === items.length) {
    const text = `${count} can restart all containers of a Pod in place: every mode of agents works (Sidecar, Supervisor)`;
    return about.ok(text);
  }
  const fix = 'docs/reference/in-place-restart.md';
  if (able === 0) {
    const text = `no node declares that it restarts all containers of a Pod, so agents supervise their workers (Supervisor), whose containers need a command`;
    return about.note(text, fix);
  }
  const text = `${count} declare that they restart all containers of a Pod: Pods with sidecar agents run on these alone; annotation lockstep/restart-mode: Supervisor uses all`;
  return about.note(text, fix);
}

interface KubeletBug {
  readonly minor: number;
  /** The first patch without it. */
  readonly fixedIn: number;
  readonly text: string;
}

/**
 * By what Kubernetes' changelogs say. A vendor may have picked the fix earlier, which its version
 * does not tell.
 */
const KUBELET_BUGS: readonly KubeletBug[] = [
  {
    minor: 35,
    fixedIn: 4,
    text: 'after a kubelet restart, a Pod with a sidecar agent does not restart containers that crash (Kubernetes issue 136910)',
  },
];

function kubeletBugs({ items }: Some<NodeFacts>): Finding {
  const about = checkOf(TOPIC, 'kubelet-bugs');
  for (const { minor, fixedIn, text } of KUBELET_BUGS) {
    const bad = items.filter(({ kubelet }) => isBefore(kubelet, minor, fixedIn));
    const [first] = bad;
    if (first === undefined) continue;
    return about.note(
      `kubelet ${first.kubelet} on ${named(bad.map(({ name }) => name))}: ${text}`,
      `upgrade these nodes to 1.${minor}.${fixedIn} or 1.${minor + 1}.0, or set annotation lockstep/restart-mode: Supervisor`,
    );
  }
  return about.ok('no kubelet is of a version with a bug that Lockstep knows');
}

function isBefore(version: string, minor: number, patch: number): boolean {
  const [, ofMinor, ofPatch] = /^v?1\.(\d{1,4})\.(\d{1,4})/.exec(version) ?? [];
  return Number(ofMinor) === minor && Number(ofPatch) < patch;
}

function notReady({ items }: Some<NodeFacts>): Finding {
  const about = checkOf(TOPIC, 'ready');
  const bad = items.filter((node) => !node.isReady).map(({ name }) => name);
  if (bad.length === 0) {
    return about.ok(`${counted(items.length, 'node')} ready`);
  }
  return about.note(`not ready: ${named(bad)}`, `kubectl describe node ${bad[0] ?? ''}`);
}

/** A node renews its lease every 10 s, and its Pods are taken for lost after 40 s by default. */
const SILENT_MS = 40_000;
const NOTED_SKEW_MS = 2_000;

function nodeClocks(
  { items }: Some<NodeLease>,
  nowMs: number,
  errorMs: number,
): readonly Finding[] {
  const silent = items.filter(
    ({ renewMs, durationMs }) => nowMs - renewMs > Math.max(SILENT_MS, durationMs) + errorMs,
  );
  const ahead = items.filter(({ renewMs }) => renewMs - nowMs > NOTED_SKEW_MS + errorMs);
  const leases = checkOf(TOPIC, 'node-leases');
  const clocks = checkOf(TOPIC, 'node-clocks');
  return [
    silent.length === 0
      ? leases.ok(`${counted(items.length, 'node lease')}, none of a silent node`)
      : leases.note(
          `silent for more than ${SILENT_MS / 1000} s, or with a clock behind: ${named(silent.map(({ name }) => name))}`,
          'kubectl get nodes; look at their kubelets and their clocks',
        ),
    ahead.length === 0
      ? clocks.ok('no clock of a node is ahead')
      : clocks.note(
          `the clock is ahead on ${named(ahead.map(({ name }) => name))}, so times in status and logs are wrong by that much`,
          'synchronize the clocks of these nodes by NTP',
        ),
  ];
}
