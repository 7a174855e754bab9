/**
 * Carries out the actions of a plan. Each action can be repeated without harm: creations are by
 * name, deletions name the UID, and changes are idempotent. Jobs are started last, and only if the
 * Service, the claims and the rights that their Pods need exist.
 */

import type { KubeObject, ObjectMeta, Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  type PersistentVolumeClaim,
  SERVICES,
} from '@lockstep/kube/objects/core.ts';
import { disruption } from '@lockstep/kube/objects/disruption.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { isReason } from '@lockstep/kube/status.ts';
import type { AgentRights } from '../../jobset/injection/agent-rights.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { isChildOf } from '../../jobset/membership.ts';
import type { Action } from '../../jobset/plan/decision.ts';
import { MEMBER_REPLACED } from '../../jobset/plan/restart/replacement.ts';
import type { OverduePod } from '../../jobset/roster/pod-facts.ts';
import {
  type ForcedDeletionReason,
  LOST_NODE_DEADLINE_REASON,
} from '../process/operator-metrics.ts';
import { grantAgentRights } from './agent-rights.ts';

export interface CarryOut {
  readonly client: Client;
  readonly clock: Clock;
  readonly jobSet: Stored<JobSet>;
  readonly signal: AbortSignal;
}

/** The result of an action, for the controller's memory and its reports. */
export type ActionResult =
  /** A Job as the API server returned it. */
  | { readonly kind: 'JobWritten'; readonly job: Stored<Job> }
  /** The Job is being deleted, or gone. */
  | { readonly kind: 'JobDeleted'; readonly job: Stored<Job> }
  | { readonly kind: 'JobSetDeleted' }
  /** The claim of that name exists now, made by us or not. */
  | { readonly kind: 'ClaimExists'; readonly name: string }
  /** The agents have their rights now. */
  | { readonly kind: 'RightsGranted' }
  /** A Pod was deleted by force; not called for one that was already gone. */
  | { readonly kind: 'PodForced'; readonly reason: ForcedDeletionReason }
  | FailedAction;

/** A failed action that the JobSet's user has to know of, for the Event. */
export interface FailedAction {
  readonly kind: 'Failed';
  readonly reason:
    | 'JobCreationFailed'
    | 'HeadlessServiceCreationFailed'
    | 'PVCCreationFailed'
    | 'AgentRightsFailed'
    | 'FailedResourcePropagation'
    | 'MemberReplacementFailed';
  readonly error: unknown;
}

/** Concurrent requests for one JobSet, as in upstream. */
export const MAX_PARALLEL_REQUESTS = 50;

/**
 * Tries all actions. Then it resolves with failures for the user, or rejects if another one failed.
 * `learn` gets each result at once: the cache may show its consequences while other requests last.
 */
export async function carryOut(
  context: CarryOut,
  actions: readonly Action[],
  learn: (result: ActionResult) => void,
): Promise<readonly FailedAction[]> {
  const errors: unknown[] = [];
  const failed: FailedAction[] = [];
  const tryAll = (some: readonly Action[]): Promise<void> =>
    forEachConcurrently(some, MAX_PARALLEL_REQUESTS, async (action) => {
      try {
        for await (const result of perform(context, action)) {
          learn(result);
          if (result.kind === 'Failed') failed.push(result);
        }
      } catch (error) {
        errors.push(error);
      }
    });
  await tryAll(actions.filter((action) => !isStart(action)));
  if (failed.length === 0) await tryAll(actions.filter(isStart));
  if (errors.length > 0) throw errors[0];
  return failed;
}

function isStart({ kind }: Action): boolean {
  return kind === 'CreateJob' || kind === 'ResumeJob';
}

/** The outcomes of one action. Some may come before it fails. */
type Results = AsyncGenerator<ActionResult, void, undefined>;

function perform(context: CarryOut, action: Action): Results {
  switch (action.kind) {
    case 'CreateService':
      return createService(context, action);
    case 'CreateClaim':
      return createClaim(context, action.claim);
    case 'GrantAgentRights':
      return grantRights(context, action.rights);
    case 'CreateJob':
      return createJob(context, action.job);
    case 'DeleteJob':
      return deleteJob(context, action.job);
    case 'RelabelJob':
      return patchJob(context, action.job, { metadata: { labels: action.labels } });
    case 'ResizeJob':
      return patchJob(context, action.job, { spec: action.size });
    case 'SuspendJob':
      return patchJob(context, action.job, { spec: { suspend: true } });
    case 'ResumeJob':
      return resumeJob(context, action);
    case 'DeleteLostPod':
      return deleteLostPod(context, action.pod);
    case 'ReplaceMember':
      return replaceMember(context, action);
    case 'DeleteJobSet':
      return deleteJobSet(context);
  }
}

async function* createService(
  { client, signal }: CarryOut,
  { service }: Extract<Action, { kind: 'CreateService' }>,
): Results {
  try {
    await client.create(SERVICES, service, { signal });
  } catch (error) {
    if (isReason(error, 'AlreadyExists')) return;
    yield { kind: 'Failed', reason: 'HeadlessServiceCreationFailed', error };
  }
}

async function* createClaim({ client, signal }: CarryOut, claim: PersistentVolumeClaim): Results {
  try {
    await client.create(PERSISTENT_VOLUME_CLAIMS, claim, { signal });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) {
      yield { kind: 'Failed', reason: 'PVCCreationFailed', error };
      return;
    }
  }
  yield { kind: 'ClaimExists', name: claim.metadata.name ?? '' };
}

async function* grantRights(context: CarryOut, rights: AgentRights): Results {
  try {
    await grantAgentRights(context, rights);
    yield { kind: 'RightsGranted' };
  } catch (error) {
    yield { kind: 'Failed', reason: 'AgentRightsFailed', error };
  }
}

async function* createJob(context: CarryOut, job: Job): Results {
  const { client, signal } = context;
  try {
    yield { kind: 'JobWritten', job: await client.create(JOBS, job, { signal }) };
  } catch (error) {
    const found = isReason(error, 'AlreadyExists') ? await jobNamedAs(context, job) : 'Refused';
    if (found === 'Gone') return;
    if (found === 'Refused' || !isChildOf(found, context.jobSet)) {
      yield { kind: 'Failed', reason: 'JobCreationFailed', error };
    } else yield { kind: 'JobWritten', job: found };
  }
}

/** The Job with this name may be one that we made and cannot see yet. */
async function jobNamedAs({ client, signal }: CarryOut, job: Job): Promise<Stored<Job> | 'Gone'> {
  try {
    return await client.get(JOBS, keyOf(job), { signal });
  } catch (error) {
    if (isReason(error, 'NotFound')) return 'Gone';
    throw error;
  }
}

async function* deleteJob({ client, signal }: CarryOut, job: Stored<Job>): Results {
  try {
    await client.delete(JOBS, keyOf(job), {
      propagationPolicy: 'Foreground',
      preconditions: { uid: job.metadata.uid },
      signal,
    });
  } catch (error) {
    // The Job is gone, or a successor has the name: both are fine.
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
  yield { kind: 'JobDeleted', job };
}

/**
 * Deletes the Pod, and then writes that it failed because of a disruption, as Kubernetes does for Pods
 * of deleted nodes. So the Job counts it, and a Pod failure policy can ignore it. The Job's finalizer
 * keeps the Pod until then. The deletion comes first, because the operator does not look at a failed
 * Pod again. If the node comes back, it finds no Pod and ends the containers.
 */
async function* deleteLostPod(
  { client, clock, signal }: CarryOut,
  { namespace, name, uid, node }: OverduePod,
): Results {
  const at = { namespace, name };
  const message = `Node ${node ?? ''} did not confirm in time that the Pod has ended`;
  const condition = disruption(LOST_NODE_DEADLINE_REASON, message, clock.now());
  const status = { phase: 'Failed', conditions: [condition] };
  const patch = { metadata: { uid }, status };
  try {
    await client.delete(PODS, at, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
    yield { kind: 'PodForced', reason: LOST_NODE_DEADLINE_REASON };
    await client.patch(PODS, at, { type: 'strategic', patch }, { subresource: 'status', signal });
  } catch (error) {
    // The Pod is gone, or its replacement has the name: both are fine.
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

/** Writes the reason first, so that a Pod failure policy can ignore it. The Job makes another. */
async function* replaceMember(
  { client, clock, signal }: CarryOut,
  { pod: { namespace, name, uid }, message }: Extract<Action, { kind: 'ReplaceMember' }>,
): Results {
  const at = { namespace, name };
  const condition = disruption(MEMBER_REPLACED, message, clock.now());
  const patch = { metadata: { uid }, status: { conditions: [condition] } };
  try {
    await client.patch(PODS, at, { type: 'strategic', patch }, { subresource: 'status', signal });
    await client.delete(PODS, at, {
      propagationPolicy: 'Background',
      preconditions: { uid },
      signal,
    });
  } catch (error) {
    // The Pod is gone, or another Pod has the name: both are fine.
    if (isReason(error, 'NotFound', 'Conflict')) return;
    if (!isReason(error, 'Forbidden', 'Invalid')) throw error;
    yield { kind: 'Failed', reason: 'MemberReplacementFailed', error };
  }
}

async function* deleteJobSet({ client, jobSet, signal }: CarryOut): Results {
  try {
    await client.delete(JOBSETS, keyOf(jobSet), {
      propagationPolicy: 'Foreground',
      preconditions: { uid: jobSet.metadata.uid },
      signal,
    });
  } catch (error) {
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
  yield { kind: 'JobSetDeleted' };
}

async function* resumeJob(
  context: CarryOut,
  { job, resume }: Extract<Action, { kind: 'ResumeJob' }>,
): Results {
  if (resume.clearsStartTime) {
    yield* patchJob(context, job, { status: { startTime: null } }, 'status');
  }
  try {
    yield* patchJob(context, job, resume.patch);
  } catch (error) {
    // The Job stays suspended: it must not run with other resources than the spec asks for.
    if (!resume.changesResources || !isReason(error, 'Invalid')) throw error;
    yield { kind: 'Failed', reason: 'FailedResourcePropagation', error };
  }
}

/**
 * A merge patch. Because of its UID, the API server refuses it for a successor of the same name.
 */
async function* patchJob(
  { client, signal }: CarryOut,
  job: Stored<Job>,
  { metadata, ...others }: { readonly metadata?: ObjectMeta; readonly [field: string]: unknown },
  subresource?: 'status',
): Results {
  const patch = { ...others, metadata: { ...metadata, uid: job.metadata.uid } };
  const options = subresource === undefined ? { signal } : { signal, subresource };
  try {
    const written = await client.patch(JOBS, keyOf(job), { type: 'merge', patch }, options);
    yield { kind: 'JobWritten', job: written };
  } catch (error) {
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

function keyOf({ metadata }: KubeObject): ObjectKey {
  return { namespace: namespaceOf(metadata), name: metadata.name ?? '' };
}
