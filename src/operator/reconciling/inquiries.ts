/** Answers the questions of a plan with requests to the API server. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { memoryWeight } from '@lockstep/kube/json/memory-weight.ts';
import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { boundedPages } from '@lockstep/kube/runtime/client/pages.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { mayBeLost, witnessOf } from '../../jobset/epoch/witness.ts';
import { templateAgent } from '../../jobset/injection/template-agent.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { identityOf, isChildOf } from '../../jobset/membership.ts';
import { JOBSET_UID } from '../../jobset/names.ts';
import {
  type Answer,
  type Answerable,
  type AnswerOf,
  type Question,
  type SuspectAnswer,
  type SuspectPod,
  withAnswer,
} from '../../jobset/plan/questions.ts';
import { pinOf } from '../../jobset/policies/pinned-pods.ts';
import { type PodFacts, podFacts } from '../../jobset/roster/pod-facts.ts';
import { podHold } from '../../jobset/roster/pod-hold.ts';
import { containerMinimums } from '../tracking/container-minimums.ts';
import { isNodeLost } from '../tracking/node-answers.ts';
import { firstPending, LIVING, podsOf, readPod, SUCCEEDED } from '../tracking/pod-reads.ts';
import type { PodVersions } from '../tracking/pod-versions.ts';
import type { RosterFeed } from '../tracking/roster-feed.ts';
import { failedStarts, findFailedPod, findWitness, startOfEpoch } from './failed-pod-reads.ts';
import type { ImageVolumes } from './image-volumes.ts';
import type { JobSetMemory } from './jobset-memory.ts';
import type { StartLooks } from './start-looks.ts';

/** Adds the answer to `answers`. */
export async function inquire(
  question: Question,
  answers: Answer,
  jobSet: Stored<JobSet>,
  { client, clock, versions, imageVolumes, startLooks, feed, memory }: Sources,
  signal: AbortSignal,
): Promise<Inquiry> {
  const sinceMs = startOfEpoch(jobSet);
  const { namespace = '', name } = jobSet.metadata;
  const answered: Answered = (to, answer) => ({ answers: withAnswer(answers, to, answer) });
  switch (question.kind) {
    case 'Witness':
      return answered(question, await findWitness(question.pod, sinceMs, client, versions, signal));
    case 'Notice': {
      const { pod } = question;
      const witness = await findWitness(pod, sinceMs, client, versions, signal);
      if (witness.showsFailure) return answered({ kind: 'Witness', pod }, witness);
      return { answers, lookAgainMs: memory.sawNoFailure(pod, clock.now()) };
    }
    case 'FailedJob':
      return answered(question, await findFailedPod(question.job, sinceMs, client, signal));
    case 'FreshJobs':
      for await (const job of labelledJobs(jobSet, client, signal)) memory.jobs.wrote(job);
      return answered(question, true);
    case 'WholeJobs':
      return answered(question, await wholeJobs(question.jobs, jobSet, client, signal));
    case 'SucceededPods':
      for (const pod of await podsOf(jobSet.metadata, SUCCEEDED, client, signal)) {
        feed.tell({ kind: 'SuccessSeen', pod });
      }
      return answered(question, true);
    case 'FreshPods': {
      const living = await podsOf(jobSet.metadata, LIVING, client, signal);
      const now = clock.now();
      return answered(question, feed.roster.countAgain(identityOf(jobSet), living, now));
    }
    case 'FailedPods':
      return answered(question, await failedStarts(question.job, jobSet, client, signal));
    case 'OverduePods': {
      const found = await findOverdue(question.pods, client, signal);
      for (const [podUid, { node } = {}] of found) {
        if (node === undefined) continue;
        feed.tell({ kind: 'NodeSeen', jobSet: identityOf(jobSet), podUid, node });
      }
      return answered(question, found);
    }
    case 'ContainerMinimums':
      return answered(question, await containerMinimums(client, namespace, signal));
    case 'ImageVolumes':
      return answered(question, await imageVolumes.suit(jobSet.spec, signal));
    case 'Suspects':
      return answered(question, await readSuspects(question.pods, jobSet, client, clock, signal));
    case 'Pins':
      return answered(question, await readPins(question.pods, client, clock, signal));
    case 'SilentAgents': {
      const nowMs = clock.now();
      memory.readSilent(question.pods, nowMs);
      return answered(question, await runningAgents(question.pods, client, nowMs, signal));
    }
    case 'HeldPod': {
      const look = startLooks.look(namespace, () =>
        heldPod(question.pod, jobSet, client, clock, signal),
      );
      if (look === undefined) {
        memory.starts.putOff(clock.now());
        return answered(question, {});
      }
      const pod = await look;
      const hold = pod && podHold(pod);
      memory.starts.looked(pod && hold !== undefined, clock.now());
      return answered(question, defined({ name: pod?.metadata.name, hold }));
    }
    case 'FreshJobSet': {
      const fresh = await client.get(JOBSETS, { namespace, name }, { signal });
      return { ...answered(question, question.pods), fresh };
    }
  }
}

type Answered = <Q extends Answerable>(question: Q, answer: AnswerOf[Q['kind']]) => Inquiry;

/** Where answers come from, and what learns of them. */
export interface Sources {
  readonly client: Client;
  readonly clock: Clock;
  readonly versions: PodVersions;
  readonly imageVolumes: ImageVolumes;
  readonly startLooks: StartLooks;
  readonly feed: RosterFeed;
  readonly memory: JobSetMemory;
}

export interface Inquiry {
  readonly answers: Answer;
  /** The JobSet, if it was read. */
  readonly fresh?: Stored<JobSet>;
  /** A notice showed no failure yet and deserves another look. */
  readonly lookAgainMs?: number | undefined;
}

/** Pods that are read at a time. */
const MAX_PARALLEL_READS = 10;
/**
 * The most memory, roughly, for Jobs that are read whole in one pass. Thousands of usual Jobs need
 * less, and an operator works on a few JobSets at a time.
 */
const MAX_WHOLE_JOBS_BYTES = 32 * 1024 * 1024;

/** Labels only narrow the list: other Jobs may have them too. */
async function* labelledJobs(
  jobSet: Stored<JobSet>,
  client: Client,
  signal: AbortSignal,
): AsyncGenerator<Stored<Job>, void> {
  const { metadata } = jobSet;
  const namespace = namespaceOf(metadata);
  const labelSelector = `${JOBSET_UID}=${metadata.uid}`;
  const pages = boundedPages((page) =>
    client.list(JOBS, { namespace, labelSelector, ...page, signal }),
  );
  for await (const { items } of pages) {
    for (const job of items) if (isChildOf(job, jobSet)) yield job;
  }
}

/** Lists all Jobs at once, and reads each Job whose labels somebody changed. */
async function wholeJobs(
  jobs: readonly Stored<Job>[],
  jobSet: Stored<JobSet>,
  client: Client,
  signal: AbortSignal,
): Promise<AnswerOf['WholeJobs']> {
  const wanted = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const found = new Map<string, Stored<Job>>();
  let bytes = 0;
  const take = (job: Stored<Job>): boolean => {
    const { uid } = job.metadata;
    if (wanted.delete(uid)) {
      bytes += memoryWeight(job);
      found.set(uid, job);
    }
    return wanted.size > 0 && bytes < MAX_WHOLE_JOBS_BYTES;
  };
  for await (const job of labelledJobs(jobSet, client, signal)) if (!take(job)) return found;
  for (const { metadata } of wanted.values()) {
    const job = await readJob(metadata, client, signal);
    if (job !== undefined && isChildOf(job, jobSet) && !take(job)) break;
  }
  return found;
}

async function readJob(
  { namespace = '', name }: Stored<Job>['metadata'],
  client: Client,
  signal: AbortSignal,
): Promise<Stored<Job> | undefined> {
  try {
    return await client.get(JOBS, { namespace, name }, { signal });
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** On which nodes overdue Pods are that still exist and, as far as we know, live. */
async function findOverdue(
  pods: readonly PodFacts[],
  client: Client,
  signal: AbortSignal,
): Promise<AnswerOf['OverduePods']> {
  const found = new Map<string, { readonly node?: string } | undefined>();
  await forEachConcurrently(pods, MAX_PARALLEL_READS, async (facts) => {
    const pod = await readPod(facts, client, signal);
    const hasEnded = pod?.status?.phase === 'Failed' || pod?.status?.phase === 'Succeeded';
    const isThere = pod?.metadata.deletionTimestamp !== undefined && !hasEnded;
    found.set(facts.uid, isThere ? defined({ node: pod.spec.nodeName }) : undefined);
  });
  return found;
}

/** For how long the agent of each Pod has run since its container started last. */
async function runningAgents(
  pods: readonly PodFacts[],
  client: Client,
  nowMs: number,
  signal: AbortSignal,
): Promise<AnswerOf['SilentAgents']> {
  const found = new Map<string, number>();
  await forEachConcurrently(pods, MAX_PARALLEL_READS, async (facts) => {
    const pod = await readPod(facts, client, signal);
    const agent = pod && templateAgent(pod);
    if (pod === undefined || agent === undefined) return;
    const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
    const statuses = [...initContainerStatuses, ...containerStatuses];
    const startedAt = statuses.find(({ name }) => name === agent.name)?.state?.running?.startedAt;
    if (startedAt !== undefined) found.set(facts.uid, nowMs - Date.parse(startedAt));
  });
  return found;
}

/** A Pod that cannot be read in time counts as none: a failure may wait to be dealt with. */
async function heldPod(
  named: PodFacts | undefined,
  jobSet: Stored<JobSet>,
  client: Client,
  clock: Clock,
  signal: AbortSignal,
): Promise<Stored<Pod> | undefined> {
  try {
    return await withDeadline(clock, HELD_POD_TIMEOUT_MS, signal, (within) =>
      named === undefined ? firstPending(jobSet, client, within) : readPod(named, client, within),
    );
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

const HELD_POD_TIMEOUT_MS = 1000;

/** What binds the Pods to their nodes. A Pod that cannot be read in time counts as not bound. */
async function readPins(
  pods: readonly PodFacts[],
  client: Client,
  clock: Clock,
  signal: AbortSignal,
): Promise<AnswerOf['Pins']> {
  const found = new Map<string, string>();
  try {
    await withDeadline(clock, RELEASE_READS_TIMEOUT_MS, signal, (within) =>
      forEachConcurrently(pods, MAX_PARALLEL_READS, async (facts) => {
        const pod = await readPod(facts, client, within);
        const pin = pod && pinOf(pod.spec);
        if (pin !== undefined) found.set(facts.uid, pin);
      }),
    );
  } catch (error) {
    if (signal.aborted) throw error;
  }
  return new Map(found);
}

/** A release waits for this, and neither its time nor its charge depends on it. */
const RELEASE_READS_TIMEOUT_MS = 1000;

async function readSuspects(
  pods: readonly SuspectPod[],
  jobSet: Stored<JobSet>,
  client: Client,
  clock: Clock,
  signal: AbortSignal,
): Promise<AnswerOf['Suspects']> {
  const namespace = namespaceOf(jobSet.metadata);
  const sinceMs = startOfEpoch(jobSet);
  const found = new Map<string, SuspectAnswer>();
  try {
    await withDeadline(clock, RELEASE_READS_TIMEOUT_MS, signal, (within) =>
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
  // The Pods that were read in time.
  return new Map(found);
}
