/**
 * Answers questions of the Pod webhooks about leaders and nodes, mostly from a watch of the leaders
 * and from the caches of the operator.
 */

import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import { COMPLETION_INDEX, JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import { type Informer, keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import {
  type LeaderCandidate,
  type LeaderFinding,
  leaderAmong,
  nodeNameOf,
} from '../../jobset/exclusive-placement.ts';
import { isChildOf, isPodOf, jobOf, membershipOf } from '../../jobset/membership.ts';
import { JOB_KEY, JOBSET_NAME } from '../../jobset/names.ts';
import { type OperatorCaches, withUid } from '../tracking/caches.ts';

/** Rejects if the API cannot be asked. */
export interface PodLookups {
  /** The leader of a follower that is in `namespace`, or is being created there. */
  leaderOf(follower: PartialObjectMetadata, namespace: string): Promise<LeaderFinding>;
  /** Undefined if there is no such node. */
  node(name: string): Promise<Pick<Node, 'metadata'> | undefined>;
  /** The nodes that a Pod which is being created in `namespace` should keep away from. */
  avoidedNodes(pod: PartialObjectMetadata, namespace: string): Promise<readonly string[]>;
}

export interface PodLookupsOptions extends ClientPorts {
  /** The operator's caches, once it has them. */
  readonly caches?: (() => Pick<OperatorCaches, 'informers'> | undefined) | undefined;
  /** All namespaces when absent. */
  readonly namespaces?: readonly string[] | undefined;
}

/**
 * Answers from a watch of the leaders' metadata, one Pod of each Job. It reads a leader's node, which
 * metadata lacks, once. Before a webhook refuses a Pod, it reads from the API what the watch does not
 * show yet. Equal questions at one time share a request.
 */
export function startPodLookups(
  options: PodLookupsOptions,
): PodLookups & { stop(): Promise<void> } {
  return new WatchedLookups(options);
}

/** A webhook that may refuse has ten seconds, and three questions may be needed. */
const QUESTION_TIMEOUT_MS = 3_000;
/** One leader of a Job is wanted; the others have failed or are being deleted. */
const LEADERS_LIMIT = 500;
const BY_JOB = 'job';

class WatchedLookups implements PodLookups {
  readonly #options: PodLookupsOptions;
  readonly #leaders: Informer<PartialObjectMetadata>;
  /** By UID of a leader in the store; a Pod's node never changes. */
  readonly #nodeNames = new Map<string, string>();
  readonly #questions = new Map<string, Promise<unknown>>();

  constructor(options: PodLookupsOptions) {
    this.#options = options;
    this.#leaders = createInformer({
      ...options,
      resource: PODS,
      labelSelector: `${JOBSET_NAME},${COMPLETION_INDEX}=0`,
      fieldSelector: 'status.phase!=Failed,status.phase!=Succeeded',
      metadataOnly: true,
      indexes: {
        [BY_JOB]: ({ metadata }) => [
          leadersKey(namespaceOf(metadata), metadata.labels?.[JOB_KEY] ?? ''),
        ],
      },
    });
    this.#leaders.subscribe({
      updated: ({ metadata }, old) => {
        if (metadata.uid !== old.metadata.uid) this.#nodeNames.delete(old.metadata.uid);
      },
      deleted: ({ metadata }) => void this.#nodeNames.delete(metadata.uid),
    });
  }

  stop(): Promise<void> {
    return this.#leaders.stop();
  }

  async leaderOf(follower: PartialObjectMetadata, namespace: string): Promise<LeaderFinding> {
    const jobKey = follower.metadata.labels?.[JOB_KEY] ?? '';
    const known = [...this.#leaders.store.byIndex(BY_JOB, leadersKey(namespace, jobKey))];
    const finding = leaderAmong(
      follower,
      known.map((leader) => this.#withNode(leader)),
    );
    if (finding.kind === 'Leader') {
      if (nodeNameOf(finding.leader) !== undefined) return finding;
      const { name = '' } = finding.leader.metadata;
      const leader = await this.#readLeader(namespace, name);
      const fresh = leaderAmong(follower, leader === undefined ? [] : [leader]);
      if (fresh.kind === 'Leader') return fresh;
    }
    return leaderAmong(follower, jobKey === '' ? [] : await this.#listLeaders(namespace, jobKey));
  }

  node(name: string): Promise<Stored<Node> | undefined> {
    return this.#once(`node ${name}`, (signal) =>
      unlessGone(this.#options.client.get(NODES, { name }, { signal })),
    );
  }

  /**
   * Any user may put any label and owner on a Pod. So a Pod gets the nodes only if its Job, in its own
   * namespace, belongs to the JobSet. The leader writes the status before it deletes the Pod that has
   * to leave its node, and a watch brings that write before the Pod has ended and is recreated. A
   * replica whose watch has just died may miss it. Then the new Pod may return to the node, as it may
   * if no other node has room.
   */
  async avoidedNodes(pod: PartialObjectMetadata, namespace: string): Promise<readonly string[]> {
    const informers = this.#options.caches?.()?.informers;
    if (informers === undefined) return [];
    const there = { ...pod, metadata: { ...pod.metadata, namespace } };
    const jobWithUid = (uid: string) => withUid(informers.jobs, uid);
    const found = membershipOf(there, jobWithUid);
    if (found.kind === 'Stranger') return [];
    const { name, uid } = found.jobSet;
    const jobSet = informers.jobSets.store.get(`${namespace}/${name}`);
    if (jobSet?.metadata.uid !== uid) return [];
    const nodes = (jobSet.status?.avoidedNodes ?? [])
      .map(({ node }) => node)
      .filter((node) => dns1123SubdomainErrors(node).length === 0);
    if (nodes.length === 0 || found.kind === 'Member') return nodes;
    // The Job is newer than the cache.
    const job = await this.#readJob(there);
    return job !== undefined && isChildOf(job, jobSet) && isPodOf(there, job) ? nodes : [];
  }

  async #readJob(pod: PartialObjectMetadata): Promise<Stored<Job> | undefined> {
    const { namespace = '', name = '' } = jobOf(pod) ?? {};
    return this.#once(`job ${namespace}/${name}`, (signal) =>
      unlessGone(this.#options.client.get(JOBS, { namespace, name }, { signal })),
    );
  }

  #withNode(leader: Stored<PartialObjectMetadata>): LeaderCandidate {
    const nodeName = this.#nodeNames.get(leader.metadata.uid);
    return nodeName === undefined ? leader : { ...leader, spec: { nodeName } };
  }

  async #readLeader(namespace: string, name: string): Promise<Stored<Pod> | undefined> {
    const leader = await this.#once(`pod ${namespace}/${name}`, (signal) =>
      unlessGone(this.#options.client.get(PODS, { namespace, name }, { signal })),
    );
    if (leader !== undefined) this.#remember(leader);
    return leader;
  }

  async #listLeaders(namespace: string, jobKey: string): Promise<readonly Stored<Pod>[]> {
    const { items } = await this.#once(`leaders ${leadersKey(namespace, jobKey)}`, (signal) =>
      this.#options.client.list(PODS, {
        namespace,
        labelSelector: `${JOB_KEY}=${jobKey},${COMPLETION_INDEX}=0`,
        limit: LEADERS_LIMIT,
        signal,
      }),
    );
    for (const leader of items) this.#remember(leader);
    return items;
  }

  /** Only for leaders in the store, whose end the store reports. */
  #remember(leader: Stored<Pod>): void {
    const { uid } = leader.metadata;
    const nodeName = nodeNameOf(leader);
    if (nodeName === undefined) return;
    if (this.#leaders.store.get(keyOf(leader))?.metadata.uid !== uid) return;
    this.#nodeNames.set(uid, nodeName);
  }

  #once<T>(question: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const asked = this.#questions.get(question);
    // The key of a question implies the type of its answer.
    if (asked !== undefined) return asked as Promise<T>;
    const answer = withDeadline(this.#options.clock, QUESTION_TIMEOUT_MS, undefined, ask).finally(
      () => this.#questions.delete(question),
    );
    this.#questions.set(question, answer);
    return answer;
  }
}

function leadersKey(namespace: string, jobKey: string): string {
  return `${namespace}/${jobKey}`;
}
