/**
 * Answers the questions of a plan. Watches carry metadata only, so the one Pod that failed first is
 * read when an epoch ends. That is one request for a restart of any size, and a few more if the Pod
 * hides how it failed and `versionsOf` knows earlier versions of it.
 */

import { currentEpoch } from '../../jobset/epoch/in-place-restart.ts';
import { type PodFacts, podFacts } from '../../jobset/epoch/pod-facts.ts';
import {
  hidesFailure,
  mayBeLost,
  onLostNode,
  type Witness,
  witnessOf,
} from '../../jobset/epoch/witness.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { DISRUPTION } from '../../jobset/ladder/ladder-settings.ts';
import { MEMBER_REPLACED } from '../../jobset/ladder/replacement.ts';
import { identityOf, isChildOf, isPodOf, isSame, jobOf } from '../../jobset/membership.ts';
import { JOBSET_UID } from '../../jobset/names.ts';
import type {
  Answers,
  FailedJobAnswer,
  FailedPodsAnswer,
  Question,
  SuspectAnswer,
  SuspectPod,
} from '../../jobset/snapshot.ts';
import { defined } from '../../kube/json/defined.ts';
import type { Stored } from '../../kube/meta.ts';
import { namespaceOf } from '../../kube/meta.ts';
import {
  COMPLETION_INDEX,
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  JOBS,
  type Job,
} from '../../kube/objects/job.ts';
import { PODS, type Pod } from '../../kube/objects/pod.ts';
import { ApiStatusError, isReason } from '../../kube/status.ts';
import type { Client } from '../../runtime/client/client.ts';
import { allPages } from '../../runtime/client/pages.ts';
import { forEachConcurrently } from '../../runtime/concurrency.ts';
import { withDeadline } from '../../runtime/deadline.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { containerMinimums } from '../tracking/container-minimums.ts';
import type { GroupTracker } from '../tracking/group-tracker.ts';
import type { MemberFates } from '../tracking/member-fates.ts';
import { isNodeLost } from '../tracking/node-answers.ts';
import { LIVING, podsOf, SUCCEEDED } from '../tracking/pod-reads.ts';
import type { PodVersions } from '../tracking/pod-versions.ts';
import type { ImageVolumes } from './image-volumes.ts';
import type { JobSetMemory } from './jobset-memory.ts';

export async function inquire(
  question: Question,
  jobSet: Stored<JobSet>,
  { client, clock, versions, imageVolumes, tracker, fates, memory }: Sources,
  signal: AbortSignal,
): Promise<Inquiry> {
  const sinceMs = startOfEpoch(jobSet);
  switch (question.kind) {
    case 'Witness': {
      const witness = await findWitness(question.pod, sinceMs, client, versions, signal);
      return { answers: { witness } };
    }
    case 'Notice': {
      const witness = await findWitness(question.pod, sinceMs, client, versions, signal);
      if (witness.showsFailure) return { answers: { witness } };
      return { answers: {}, lookAgainMs: memory.sawNoFailure(question.pod, clock.now()) };
    }
    case 'FailedJob':
      return { answers: { failedJob: await findFailedPod(question.job, sinceMs, client, signal) } };
    case 'FreshJobs':
      for (const job of await listJobs(jobSet, client, signal)) memory.jobs.wrote(job);
      return { answers: { areJobsFresh: true } };
    case 'SucceededPods':
      for (const pod of await podsOf(jobSet.metadata, SUCCEEDED, client, signal)) {
        tracker.podSucceeded(pod);
      }
      return { answers: { isSuccessFresh: true } };
    case 'FreshPods': {
      const living = await podsOf(jobSet.metadata, LIVING, client, signal);
      return { answers: { freshPods: tracker.census(identityOf(jobSet), living) } };
    }
    case 'FailedPods':
      return { answers: { failedPods: await failedStarts(question.job, jobSet, client, signal) } };
    case 'OverduePods': {
      const overduePods = await findOverdue(question.pods, client, signal);
      for (const [uid, { node }] of overduePods) fates.sawNode(uid, node);
      return { answers: { overduePods } };
    }
    case 'ContainerMinimums': {
      const { namespace = '' } = jobSet.metadata;
      return { answers: { minimums: await containerMinimums(client, namespace, signal) } };
    }
    case 'ImageVolumes':
      return { answers: { hasImageVolumes: await imageVolumes.suit(jobSet.spec, signal) } };
    case 'Suspects': {
      const read = readSuspects(question.pods, jobSet, client, clock, signal);
      return { answers: { suspects: await read } };
    }
    case 'FreshJobSet': {
      const { name, namespace = '' } = jobSet.metadata;
      const fresh = await client.get(JOBSETS, { namespace, name }, { signal });
      return { answers: { isJobSetFresh: true }, fresh, strays: question.pods };
    }
  }
}

/** Where answers come from, and what learns of them. */
export interface Sources {
  readonly client: Client;
  readonly clock: Clock;
  readonly versions: PodVersions;
  readonly imageVolumes: ImageVolumes;
  readonly tracker: GroupTracker;
  readonly fates: MemberFates;
  readonly memory: JobSetMemory;
}

export interface Inquiry {
  readonly answers: Answers;
  /** The JobSet, if it was read. */
  readonly fresh?: Stored<JobSet>;
  /** Pods that a plan with these answers reports: they are known from then on. */
  readonly strays?: readonly PodFacts[];
  /** A notice showed no failure yet and deserves another look. */
  readonly lookAgainMs?: number | undefined;
}

/** Pods that are read at a time. */
const MAX_PARALLEL_READS = 10;
/** Pods per request. Of failed Pods no more are read to find the last failure. */
const PAGE_SIZE = 500;

/** Labels only narrow the list: other Jobs may have them too. */
async function listJobs(
  jobSet: Stored<JobSet>,
  client: Client,
  signal: AbortSignal,
): Promise<readonly Stored<Job>[]> {
  const { metadata } = jobSet;
  const labelled = await allPages((next) =>
    client.list(JOBS, {
      namespace: namespaceOf(metadata),
      labelSelector: `${JOBSET_UID}=${metadata.uid}`,
      limit: PAGE_SIZE,
      ...next,
      signal,
    }),
  );
  return labelled.filter((job) => isChildOf(job, jobSet));
}

function startOfEpoch({ status }: JobSet): number | undefined {
  return timeMs(status?.syncedTime);
}

function timeMs(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

async function findWitness(
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
  // With more versions it is not a restart, and the first end would not be among the last ones.
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

/** Overdue Pods that still exist and, as far as we know, live. */
async function findOverdue(
  pods: readonly PodFacts[],
  client: Client,
  signal: AbortSignal,
): Promise<NonNullable<Answers['overduePods']>> {
  const found = new Map<string, { readonly node: string | undefined }>();
  await forEachConcurrently(pods, MAX_PARALLEL_READS, async (facts) => {
    const pod = await readPod(facts, client, signal);
    const hasEnded = pod?.status?.phase === 'Failed' || pod?.status?.phase === 'Succeeded';
    if (pod?.metadata.deletionTimestamp === undefined || hasEnded) return;
    found.set(facts.uid, { node: pod.spec.nodeName });
  });
  return found;
}

/** A release waits for this, and only the names of nodes depend on it. */
const SUSPECTS_TIMEOUT_MS = 1000;

async function readSuspects(
  pods: readonly SuspectPod[],
  { metadata, status }: Stored<JobSet>,
  client: Client,
  clock: Clock,
  signal: AbortSignal,
): Promise<NonNullable<Answers['suspects']>> {
  const namespace = namespaceOf(metadata);
  const sinceMs = timeMs(status?.syncedTime);
  const found = new Map<string, SuspectAnswer>();
  try {
    await withDeadline(clock, SUSPECTS_TIMEOUT_MS, signal, (within) =>
      forEachConcurrently(pods, MAX_PARALLEL_READS, async ({ name, uid }) => {
        const pod = await readPod({ namespace, name, uid }, client, within);
        const facts = pod && podFacts(pod);
        if (pod === undefined || facts === undefined) return;
        const { record } = witnessOf(facts, pod, undefined, sinceMs);
        const { node } = record;
        const isLost = mayBeLost(pod) && (await isNodeLost(node, client, within));
        found.set(uid, {
          ...defined({ node }),
          witness: record,
          ...(isLost ? { isNodeLost: true } : {}),
        });
      }),
    );
  } catch (error) {
    if (signal.aborted) throw error;
  }
  // What was read in time.
  return new Map(found);
}

async function readPod(
  { namespace, name, uid }: Pick<PodFacts, 'namespace' | 'name' | 'uid'>,
  client: Client,
  signal: AbortSignal,
): Promise<Stored<Pod> | undefined> {
  try {
    const pod = await client.get(PODS, { namespace, name }, { signal });
    return pod.metadata.uid === uid ? pod : undefined;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
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
    limit: PAGE_SIZE,
    signal,
  });
  const { namespace, jobName: name, jobUid: uid } = facts;
  const others = items.filter(
    (pod) => pod.metadata.uid !== facts.uid && isSame(jobOf(pod), { namespace, name, uid }),
  );
  return newest(others);
}

async function findFailedPod(
  job: Stored<Job>,
  sinceMs: number | undefined,
  client: Client,
  signal: AbortSignal,
): Promise<FailedJobAnswer> {
  const jobUid = job.metadata.uid;
  const pod = newest(await failedPods(job, client, signal));
  const facts = pod === undefined ? undefined : podFacts(pod);
  if (pod === undefined || facts === undefined) return { jobUid };
  const witness = witnessOf(facts, pod, undefined, sinceMs);
  return { jobUid, witness, ...defined({ epoch: facts.epoch }) };
}

/** Pods of the Job that failed on their way to the current epoch, and the last of them. */
async function failedStarts(
  job: Stored<Job>,
  { status }: Stored<JobSet>,
  client: Client,
  signal: AbortSignal,
): Promise<FailedPodsAnswer> {
  const epoch = currentEpoch(status ?? {});
  const beganMs = timeMs(status?.restartHistory?.[0]?.time);
  const pods = (await failedPods(job, client, signal)).filter((pod) => {
    if (wasReplaced(pod)) return false;
    const announced = podFacts(pod)?.epoch;
    return announced === undefined ? wasCreatedSince(pod, beganMs) : announced >= epoch;
  });
  const jobUid = job.metadata.uid;
  const last = newest(pods);
  const facts = last === undefined ? undefined : podFacts(last);
  if (last === undefined || facts === undefined) return { jobUid, inEpoch: pods.length };
  const witness = witnessOf(facts, last, undefined, undefined);
  return { jobUid, inEpoch: pods.length, witness };
}

/** We deleted it ourselves, while it waited at the barrier. */
function wasReplaced({ status }: Pod): boolean {
  const { conditions = [] } = status ?? {};
  return conditions.some(({ type, reason }) => type === DISRUPTION && reason === MEMBER_REPLACED);
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
    limit: PAGE_SIZE,
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
