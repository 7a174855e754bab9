/** The nodes that members of a JobSet have left, and which of them a user wants to forget. */

import { humanDuration } from '@lockstep/kube/duration.ts';
import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { printable } from '@lockstep/kube/quote.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { AvoidedNode } from '../../jobset/jobset-status.ts';
import { isManagedByUs } from '../../jobset/manager.ts';
import { FORGET_NODES } from '../../jobset/names.ts';
import { parsedRequest, requestKey } from '../../jobset/policies/forget-nodes.ts';
import { isFinished } from '../../jobset/status/conditions.ts';
import { aligned } from '../aligned.ts';

export interface NodeList {
  readonly namespace: string;
  readonly name: string;
  /** The newest first. */
  readonly avoidedNodes: readonly AvoidedNode[];
}

export function nodeList({ metadata, status }: Stored<JobSet>): NodeList {
  const { avoidedNodes = [] } = status ?? {};
  return { namespace: namespaceOf(metadata), name: metadata.name, avoidedNodes };
}

const HEADINGS = ['NODE', 'AGE', 'MEMBER', 'POD', 'WHY'];

export function nodeLines(list: NodeList, nowMs: number): readonly string[] {
  const { namespace, name, avoidedNodes } = list;
  if (avoidedNodes.length === 0) return [`JobSet ${namespace}/${name} avoids no node`];
  const rows = avoidedNodes.map(({ node, time, reason, pod, worker }) => {
    const age = humanDuration(Math.max(0, nowMs - Date.parse(time)));
    return [node, age, worker, pod, reason].map(printable);
  });
  return aligned([HEADINGS, ...rows]);
}

/** The entries of the nodes that are named, or why nothing is asked for. */
export function entriesOf(
  jobSet: Stored<JobSet>,
  asked: 'All' | readonly string[],
): { readonly entries: readonly AvoidedNode[] } | { readonly problem: string } {
  const { namespace, name, avoidedNodes } = nodeList(jobSet);
  const { managedBy } = jobSet.spec;
  const told = (problem: string) => ({ problem: `JobSet ${namespace}/${name} ${problem}` });
  if (!isManagedByUs(jobSet.spec)) return told(`is managed by ${managedBy}`);
  if (isFinished(jobSet.status?.conditions)) return told('has finished, and makes no Pods');
  if (asked === 'All') return { entries: avoidedNodes };
  const known = new Set(avoidedNodes.map(({ node }) => node));
  const unknown = asked.filter((node) => !known.has(node));
  if (unknown.length > 0) {
    const those = known.size === 0 ? 'none' : [...known].join(', ');
    return told(`does not avoid ${unknown.join(', ')}; it avoids ${those}; nothing was changed`);
  }
  return { entries: avoidedNodes.filter(({ node }) => asked.includes(node)) };
}

/** These entries, and the entries of an earlier request that has not been obeyed yet. */
export function withEarlier(
  { metadata, status }: Stored<JobSet>,
  entries: readonly AvoidedNode[],
): readonly AvoidedNode[] {
  const earlier = new Set(parsedRequest(metadata.annotations?.[FORGET_NODES]) ?? []);
  const asked = new Set(entries.map(requestKey));
  return (status?.avoidedNodes ?? []).filter((entry) => {
    const key = requestKey(entry);
    return asked.has(key) || earlier.has(key);
  });
}
