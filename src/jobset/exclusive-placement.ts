/** Exclusive placement: each Job has one value of a node label, the topology, to itself. */
import type { PartialObjectMetadata, StringMap } from '@lockstep/kube/meta.ts';
import type { PodAffinity, PodAffinityTerm } from '@lockstep/kube/objects/affinity.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import type { Pod, PodSpec, PodStatus } from '@lockstep/kube/objects/pod.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { isSame, jobOf } from './membership.ts';
import * as names from './names.ts';

/**
 * The first Pod of a Job, its leader, keeps away from the leaders of other Jobs by anti-affinity.
 * Its followers are only created once the leader has a node, and go to that node's topology.
 * Exclusive means among Pods of one priority.
 */
export type PlacementRole =
  /** A Pod of no JobSet, without a topology, or of the node-selector strategy: nothing to do. */
  | { readonly kind: 'Free' }
  | { readonly kind: 'Leader'; readonly topologyKey: string }
  | { readonly kind: 'Follower'; readonly topologyKey: string };

/** Needs only metadata, so that a watch of metadata suffices. */
export function placementRole({ metadata }: PartialObjectMetadata): PlacementRole {
  const annotations = metadata.annotations ?? {};
  const topologyKey = annotations[names.EXCLUSIVE_TOPOLOGY];
  if (topologyKey === undefined || !isJobSetPod(annotations)) return { kind: 'Free' };
  if (annotations[names.NODE_SELECTOR_STRATEGY] !== undefined) return { kind: 'Free' };
  const isLeader = annotations[COMPLETION_INDEX] === LEADER_INDEX;
  return { kind: isLeader ? 'Leader' : 'Follower', topologyKey };
}

/**
 * Adds the Pod's priority as a label, because selectors of Pods read only labels. Pods of the
 * node-selector strategy are left alone.
 */
export function withPriorityLabel(pod: Pod): Pod {
  const { metadata, spec } = pod;
  const annotations = metadata.annotations ?? {};
  if (spec.priority === undefined || !isJobSetPod(annotations)) return pod;
  if (annotations[names.NODE_SELECTOR_STRATEGY] !== undefined) return pod;
  const labels = { ...metadata.labels, [names.PRIORITY]: priorityLabel(spec.priority) };
  return { ...pod, metadata: { ...metadata, labels } };
}

/** A label value begins with a letter or a digit, so -1 becomes `n1`. */
function priorityLabel(priority: number): string {
  return priority < 0 ? `n${-priority}` : `${priority}`;
}

/** The leader with two terms after the terms of its template. It has its priority label. */
export function placedLeader(pod: Pod, topologyKey: string): Pod {
  const { affinity } = pod.spec;
  const { labels } = pod.metadata;
  const own = [labels?.[names.JOB_KEY] ?? ''];
  // Within its namespace: a Pod of another tenant with that label would draw the leader elsewhere.
  const attraction: PodAffinityTerm = {
    labelSelector: {
      matchExpressions: [{ key: names.JOB_KEY, operator: 'In', values: own }],
    },
    topologyKey,
  };
  const repulsion: PodAffinityTerm = {
    labelSelector: {
      matchExpressions: [
        { key: names.JOB_KEY, operator: 'Exists' },
        { key: names.JOB_KEY, operator: 'NotIn', values: own },
        { key: names.PRIORITY, operator: 'In', values: [labels?.[names.PRIORITY] ?? ''] },
      ],
    },
    topologyKey,
    namespaceSelector: {},
  };
  return withSpec(pod, {
    affinity: {
      ...affinity,
      podAffinity: withTerm(affinity?.podAffinity, attraction),
      podAntiAffinity: withTerm(affinity?.podAntiAffinity, repulsion),
    },
  });
}

/** The follower, bound to its leader's value of the topology. */
export function placedFollower(pod: Pod, topologyKey: string, topology: string): Pod {
  return withSpec(pod, { nodeSelector: { ...pod.spec.nodeSelector, [topologyKey]: topology } });
}

/** What is needed to decide whether a Pod leads, and where. Every Pod fits this type. */
export interface LeaderCandidate extends PartialObjectMetadata {
  readonly spec?: Pick<PodSpec, 'nodeName'>;
  readonly status?: Pick<PodStatus, 'phase'>;
}

/** The one leader of a follower, or why none can be determined. */
export type LeaderFinding =
  | { readonly kind: 'Leader'; readonly leader: LeaderCandidate }
  | { readonly kind: 'NoLeader'; readonly why: string };

/** `<jobset>-<replicatedjob>-<index>-0`, from the follower's labels, without the random suffix. */
export function leaderNameOf(
  follower: PartialObjectMetadata,
): { readonly name: string } | { readonly problem: string } {
  const labels = follower.metadata.labels ?? {};
  const values: string[] = [];
  for (const key of [names.JOBSET_NAME, names.REPLICATED_JOB_NAME, names.JOB_INDEX]) {
    const value = labels[key];
    if (value === undefined) return { problem: `pod missing label: ${key}` };
    values.push(value);
  }
  const [jobSet = '', replicatedJob = '', index = ''] = values;
  return { name: `${jobSet}-${replicatedJob}-${index}-${LEADER_INDEX}` };
}

/**
 * Picks the leader among Pods of the follower's namespace. Pods that are being deleted or have failed
 * do not count. A Pod that succeeded counts: it has no successor, so a follower that comes later
 * would wait for ever. The leader must belong to the same Job, by UID, as the follower.
 */
export function leaderAmong(
  follower: PartialObjectMetadata,
  pods: readonly LeaderCandidate[],
): LeaderFinding {
  const expected = leaderNameOf(follower);
  if ('problem' in expected) return noLeader(expected.problem);
  const leaders = pods.filter((pod) => mayLead(pod) && isLeaderNamed(pod, expected.name));
  const [leader] = leaders;
  if (leader === undefined || leaders.length > 1) {
    return noLeader(
      `expected 1 leader pod (${expected.name}), but got ${leaders.length}. ${TRANSIENT}`,
    );
  }
  const followed = jobOf(follower);
  if (followed === undefined) return noLeader('follower pod has no owner reference');
  const leading = jobOf(leader);
  if (leading === undefined) {
    return noLeader(`leader pod ${quote(leader.metadata.name ?? '')} has no owner reference`);
  }
  if (followed.uid !== leading.uid) {
    const uids = `follower pod owner UID (${followed.uid}) != leader pod owner UID (${leading.uid})`;
    return noLeader(uids);
  }
  if (followed.name !== leading.name) {
    const names = `follower pod owner (${followed.name}) != leader pod owner (${leading.name})`;
    return noLeader(names);
  }
  return { kind: 'Leader', leader };
}

/** Why a follower must not be created, or undefined. */
export function followerProblem(
  follower: Pod,
  topologyKey: string,
  finding: LeaderFinding,
): string | undefined {
  const { nodeSelector } = follower.spec;
  if (nodeSelector === undefined) return 'follower pod node selector not set';
  if (!Object.hasOwn(nodeSelector, topologyKey)) {
    return `follower pod node selector for topology domain not found. missing selector: ${topologyKey}`;
  }
  if (finding.kind === 'NoLeader') return finding.why;
  if (nodeNameOf(finding.leader) !== undefined) return undefined;
  return `leader pod not yet scheduled, not creating follower pod. ${TRANSIENT}`;
}

/** The value of the topology of a node, or why it has none. */
export function topologyOf(
  node: Pick<Node, 'metadata'>,
  topologyKey: string,
): { readonly topology: string } | { readonly problem: string } {
  const labels = node.metadata.labels ?? {};
  const topology = Object.hasOwn(labels, topologyKey) ? labels[topologyKey] : undefined;
  if (topology === undefined) {
    return { problem: `node does not have topology label: ${topologyKey}` };
  }
  return { topology };
}

/** What to do about a Job whose leader has a node. */
export type Repair =
  | { readonly kind: 'None' }
  /** Nothing can be decided yet: try again. */
  | { readonly kind: 'Undecided'; readonly why: string }
  /** A follower is out of place: all followers are deleted, but never the leader. */
  | { readonly kind: 'Delete'; readonly topology: string; readonly followers: readonly Pod[] };

/**
 * `pods` have the leader's job key, and are in its namespace; `node` is the leader's node, undefined
 * if it is gone. Nothing is deleted while the leader's topology is unknown.
 */
export function planRepair(
  leader: Pod,
  topologyKey: string,
  pods: readonly Pod[],
  node: Pick<Node, 'metadata'> | undefined,
): Repair {
  const owner = jobOf(leader);
  if (owner === undefined) {
    return undecided(`leader pod ${quote(leader.metadata.name ?? '')} has no owner reference`);
  }
  const followers = pods.filter(
    (pod) => isSame(jobOf(pod), owner) && placementRole(pod).kind === 'Follower',
  );
  const living = followers.filter(isAlive);
  if (living.length === 0) return NO_REPAIR;
  if (node === undefined) return undecided('leader topology is unknown (node not found)');
  const found = topologyOf(node, topologyKey);
  if ('problem' in found) return undecided(found.problem);
  const { topology } = found;
  const isPlaced = ({ spec }: Pod): boolean => spec.nodeSelector?.[topologyKey] === topology;
  if (living.every(isPlaced)) return NO_REPAIR;
  return { kind: 'Delete', topology, followers: living };
}

/** Whether the Pod is neither being deleted nor at its end. */
export function isAlive(pod: LeaderCandidate): boolean {
  return mayLead(pod) && pod.status?.phase !== 'Succeeded';
}

function mayLead({ metadata, status }: LeaderCandidate): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Failed';
}

/** The node on which a Pod is or will be; undefined before it is scheduled. */
export function nodeNameOf({ spec }: LeaderCandidate): string | undefined {
  return spec?.nodeName === '' ? undefined : spec?.nodeName;
}

const LEADER_INDEX = '0';
const TRANSIENT = 'this is an expected, transient error';
const NO_REPAIR: Repair = { kind: 'None' };

function isJobSetPod(annotations: StringMap): boolean {
  return annotations[names.JOBSET_NAME] !== undefined;
}

/** A Pod's name is its leader's name and a random suffix. */
function isLeaderNamed(pod: PartialObjectMetadata, name: string): boolean {
  const own = pod.metadata.name ?? '';
  return placementRole(pod).kind === 'Leader' && own.slice(0, own.lastIndexOf('-')) === name;
}

function withTerm(affinity: PodAffinity | undefined, term: PodAffinityTerm): PodAffinity {
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return { ...affinity, requiredDuringSchedulingIgnoredDuringExecution: [...terms, term] };
}

function withSpec(pod: Pod, changed: Partial<PodSpec>): Pod {
  return { ...pod, spec: { ...pod.spec, ...changed } };
}

function noLeader(why: string): LeaderFinding {
  return { kind: 'NoLeader', why };
}

function undecided(why: string): Repair {
  return { kind: 'Undecided', why };
}
