/**
 * Reads the Pods that failed, for the witness of an end. Watches carry metadata only, so the one Pod
 * that failed first is read when an epoch ends. That is one request for a restart of any size, and a
 * few more if the Pod hides how it failed and `PodVersions` knows earlier versions of it.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { DISRUPTION_TARGET } from '@lockstep/kube/objects/disruption.ts';
import {
  COMPLETION_INDEX,
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  type Job,
} from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { currentEpoch } from '../../jobset/epoch/in-place-restart.ts';
import {
  hidesFailure,
  mayBeLost,
  onLostNode,
  type Witness,
  witnessOf,
} from '../../jobset/epoch/witness.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { isPodOf, isSame, jobOf } from '../../jobset/membership.ts';
import type { AnswerOf } from '../../jobset/plan/questions.ts';
import { MEMBER_REPLACED } from '../../jobset/plan/restart/replacement.ts';
import { type PodFacts, podFacts } from '../../jobset/roster/pod-facts.ts';
import { isNodeLost } from '../tracking/node-answers.ts';
import { readPod } from '../tracking/pod-reads.ts';
import type { PodVersions } from '../tracking/pod-versions.ts';

/** Pods of a Job that are read to find the one that failed last. */
const MAX_PODS_READ = 500;

/** When the current epoch was released, in milliseconds since 1970; undefined: it was not. */
export function startOfEpoch({ status }: JobSet): number | undefined {
  return timeMs(status?.syncedTime);
}

function timeMs(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

export async function findWitness(
  facts: PodFacts,
  sinceMs: number | undefined,
  client: Client,
  versions: PodVersions,
  signal: AbortSignal,
): Promise<Witness> {
  const pod = await readPod(facts, client, signal);
  const isNew = pod !== undefined && wasCreatedSince(pod, sinceMs) && !hasRestarted(pod);
  const predecessor = isNew ? await findPredecessor(facts, client, signal) : undefined;
  const isHiding = pod !== undefined && facts.notice?.end === undefined;
  const earlier =
    isHiding && sinceMs !== undefined && hidesFailure(pod, sinceMs)
      ? await readVersions(pod, versions.of(pod.metadata.uid, sinceMs), client, signal)
      : [];
  const witness = witnessOf(facts, pod, predecessor, sinceMs, earlier);
  const isLost =
    mayBeLost(pod, predecessor) && (await isNodeLost(witness.record.node, client, signal));
  return isLost ? onLostNode(witness) : witness;
}

/**
 * A Pod that restarts all its containers gets six statuses from that; the first shows the cause.
 */
const MAX_VERSIONS_READ = 10;

/** The Pod in those versions, as far as the API server still has them. */
async function readVersions(
  { metadata }: Stored<Pod>,
  versions: readonly string[],
  client: Client,
  signal: AbortSignal,
): Promise<readonly Stored<Pod>[]> {
  const before = versions.filter((version) => version !== metadata.resourceVersion);
  // A restart has fewer versions, and the first end would not be among the last ones.
  if (before.length > MAX_VERSIONS_READ) return [];
  const read = await Promise.all(
    before.map((resourceVersion) => readVersion(metadata, resourceVersion, client, signal)),
  );
  return read.filter((pod) => pod !== undefined);
}

async function readVersion(
  { namespace = '', name, uid }: Stored<Pod>['metadata'],
  resourceVersion: string,
  client: Client,
  signal: AbortSignal,
): Promise<Stored<Pod> | undefined> {
  try {
    const { items } = await client.list(PODS, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
      resourceVersionMatch: 'Exact',
      signal,
    });
    return items.find(({ metadata }) => metadata.uid === uid);
  } catch (error) {
    // An expired or refused version is not worth a failure.
    if (error instanceof ApiStatusError && error.code < 500) return undefined;
    throw error;
  }
}

/** A replacement shows no cause, but the Pod that it replaces may still exist. */
async function findPredecessor(
  facts: PodFacts,
  client: Client,
  signal: AbortSignal,
): Promise<Pod | undefined> {
  const slot = facts.slot === undefined ? '' : `,${COMPLETION_INDEX}=${facts.slot}`;
  const { items } = await client.list(PODS, {
    namespace: facts.namespace,
    labelSelector: `${JOB_NAME_LABEL}=${facts.jobName}${slot}`,
    limit: MAX_PODS_READ,
    signal,
  });
  const { namespace, jobName: name, jobUid: uid } = facts;
  const others = items.filter(
    (pod) => pod.metadata.uid !== facts.uid && isSame(jobOf(pod), { namespace, name, uid }),
  );
  return newest(others);
}

export async function findFailedPod(
  job: Stored<Job>,
  sinceMs: number | undefined,
  client: Client,
  signal: AbortSignal,
): Promise<AnswerOf['FailedJob']> {
  const pod = newest(await failedPods(job, client, signal));
  const facts = pod === undefined ? undefined : podFacts(pod);
  if (pod === undefined || facts === undefined) return {};
  const witness = witnessOf(facts, pod, undefined, sinceMs);
  return { witness, ...defined({ epoch: facts.epoch }) };
}

/** Pods of the Job that failed on their way to the current epoch, and the last of them. */
export async function failedStarts(
  job: Stored<Job>,
  { status }: Stored<JobSet>,
  client: Client,
  signal: AbortSignal,
): Promise<AnswerOf['FailedPods']> {
  const epoch = currentEpoch(status ?? {});
  const beganMs = timeMs(status?.restartHistory?.[0]?.time);
  const pods = (await failedPods(job, client, signal)).filter((pod) => {
    if (wasReplaced(pod)) return false;
    const announced = podFacts(pod)?.epoch;
    return announced === undefined ? wasCreatedSince(pod, beganMs) : announced >= epoch;
  });
  const last = newest(pods);
  const facts = last === undefined ? undefined : podFacts(last);
  if (last === undefined || facts === undefined) return { inEpoch: pods.length };
  const witness = witnessOf(facts, last, undefined, undefined);
  return { inEpoch: pods.length, witness };
}

/** Whether the operator deleted the Pod while it waited at the barrier. */
function wasReplaced({ status }: Pod): boolean {
  const { conditions = [] } = status ?? {};
  return conditions.some(
    ({ type, reason }) => type === DISRUPTION_TARGET && reason === MEMBER_REPLACED,
  );
}

async function failedPods(
  job: Stored<Job>,
  client: Client,
  signal: AbortSignal,
): Promise<readonly Stored<Pod>[]> {
  const { metadata } = job;
  const { items } = await client.list(PODS, {
    namespace: namespaceOf(metadata),
    labelSelector: `${CONTROLLER_UID_LABEL}=${metadata.uid}`,
    fieldSelector: 'status.phase=Failed',
    limit: MAX_PODS_READ,
    signal,
  });
  return items.filter((pod) => isPodOf(pod, job));
}

function newest(pods: readonly Stored<Pod>[]): Stored<Pod> | undefined {
  let last: Stored<Pod> | undefined;
  for (const pod of pods) {
    const isLater =
      last === undefined || pod.metadata.creationTimestamp > last.metadata.creationTimestamp;
    if (isLater) last = pod;
  }
  return last;
}

function wasCreatedSince(pod: Stored<Pod>, sinceMs: number | undefined): boolean {
  if (sinceMs === undefined) return true;
  // Creation times are whole seconds.
  return Date.parse(pod.metadata.creationTimestamp) + 1000 > sinceMs;
}

function hasRestarted({ status }: Pod): boolean {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return statuses.some(({ restartCount }) => restartCount > 0);
}
