import type { Action } from '../../jobset/convergence.ts';
import type { OverduePod } from '../../jobset/epoch/lost-pods.ts';
import type { AgentRights } from '../../jobset/injection/agent-rights.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { isChildOf } from '../../jobset/membership.ts';
import type { KubeObject, ObjectMeta, Stored } from '../../kube/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  type PersistentVolumeClaim,
  SERVICES,
} from '../../kube/objects/core.ts';
import { JOBS, type Job } from '../../kube/objects/job.ts';
import { PODS } from '../../kube/objects/pod.ts';
import { isReason } from '../../kube/status.ts';
import { timeText } from '../../kube/time.ts';
import type { Client, ObjectKey } from '../../runtime/client/client.ts';
import { forEachConcurrently } from '../../runtime/concurrency.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import {
  type ForcedDeletionReason,
  LOST_NODE_DEADLINE_REASON,
} from '../process/operator-metrics.ts';
import { grantAgentRights, revokeAgentRights } from './agent-rights.ts';

/**
 * Carries out the actions of a plan. Each can be repeated without harm: creations are by name,
 * deletions name the UID, and changes are the same every time. Jobs are started last, and not at all
 * while the Service, a claim or the rights that their Pods need could not be made.
 */
export interface CarryOut {
  readonly client: Client;
  readonly clock: Clock;
  readonly jobSet: Stored<JobSet>;
  readonly signal: AbortSignal;
  /** A Job as the API server returned it. */
  readonly wrote: (job: Stored<Job>) => void;
  readonly deleted: (job: Stored<Job>) => void;
  /** The claim of that name exists now, whoever made it. */
  readonly claimed: (name: string) => void;
  /** The agents have their rights now. */
  readonly granted: () => void;
  /** Rights that no agent needs are gone, or we may not take them away. */
  readonly revoked: () => void;
  /** A Pod was deleted by force; not called for one that was gone. */
  readonly forced: (reason: ForcedDeletionReason) => void;
}

/** An action that failed in a way that the user of the JobSet has to know, for the Event. */
export interface FailedAction {
  readonly reason:
    | 'JobCreationFailed'
    | 'HeadlessServiceCreationFailed'
    | 'PVCCreationFailed'
    | 'AgentRightsFailed'
    | 'FailedResourcePropagation';
  readonly error: unknown;
}

/** Requests of one JobSet that are under way at a time, as upstream has it. */
export const MAX_PARALLEL_REQUESTS = 50;

/** Resolves with failures to tell of; rejects if anything else failed, when all was tried. */
export async function carryOut(
  context: CarryOut,
  actions: readonly Action[],
): Promise<readonly FailedAction[]> {
  const errors: unknown[] = [];
  const failed: FailedAction[] = [];
  const tryAll = (some: readonly Action[]): Promise<void> =>
    forEachConcurrently(some, MAX_PARALLEL_REQUESTS, async (action) => {
      try {
        const failure = await perform(context, action);
        if (failure !== undefined) failed.push(failure);
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

async function perform(context: CarryOut, action: Action): Promise<FailedAction | undefined> {
  switch (action.kind) {
    case 'CreateService':
      return createService(context, action);
    case 'CreateClaim':
      return createClaim(context, action.claim);
    case 'GrantAgentRights':
      return grantRights(context, action.rights);
    case 'RevokeAgentRights':
      return revokeRights(context);
    case 'CreateJob':
      return createJob(context, action.job);
    case 'DeleteJob':
      await deleteJob(context, action.job);
      return undefined;
    case 'RelabelJob':
      await patchJob(context, action.job, { metadata: { labels: action.labels } });
      return undefined;
    case 'ResizeJob':
      await patchJob(context, action.job, { spec: action.size });
      return undefined;
    case 'SuspendJob':
      await patchJob(context, action.job, { spec: { suspend: true } });
      return undefined;
    case 'ResumeJob':
      return resumeJob(context, action);
    case 'DeleteLostPod':
      await deleteLostPod(context, action.pod);
      return undefined;
    case 'DeleteJobSet':
      await deleteJobSet(context);
      return undefined;
  }
}

async function createService(
  { client, signal }: CarryOut,
  { service }: Extract<Action, { kind: 'CreateService' }>,
): Promise<FailedAction | undefined> {
  try {
    await client.create(SERVICES, service, { signal });
    return undefined;
  } catch (error) {
    if (isReason(error, 'AlreadyExists')) return undefined;
    return { reason: 'HeadlessServiceCreationFailed', error };
  }
}

async function createClaim(
  { client, signal, claimed }: CarryOut,
  claim: PersistentVolumeClaim,
): Promise<FailedAction | undefined> {
  try {
    await client.create(PERSISTENT_VOLUME_CLAIMS, claim, { signal });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) return { reason: 'PVCCreationFailed', error };
  }
  claimed(claim.metadata.name ?? '');
  return undefined;
}

async function grantRights(
  context: CarryOut,
  rights: AgentRights,
): Promise<FailedAction | undefined> {
  try {
    await grantAgentRights(context, rights);
  } catch (error) {
    return { reason: 'AgentRightsFailed', error };
  }
  context.granted();
  return undefined;
}

/** An operator that may not is told so once, and nothing waits for that. */
async function revokeRights(context: CarryOut): Promise<FailedAction | undefined> {
  try {
    await revokeAgentRights(context);
  } catch (error) {
    if (!isReason(error, 'Forbidden')) throw error;
    context.revoked();
    return { reason: 'AgentRightsFailed', error };
  }
  context.revoked();
  return undefined;
}

async function createJob(context: CarryOut, job: Job): Promise<FailedAction | undefined> {
  const { client, signal } = context;
  try {
    context.wrote(await client.create(JOBS, job, { signal }));
    return undefined;
  } catch (error) {
    if (isReason(error, 'AlreadyExists') && (await isOurs(context, job))) return undefined;
    return { reason: 'JobCreationFailed', error };
  }
}

/** The Job that holds the name may be one that we made and cannot see yet. */
async function isOurs(context: CarryOut, job: Job): Promise<boolean> {
  try {
    const found = await context.client.get(JOBS, keyOf(job), { signal: context.signal });
    if (!isChildOf(found, context.jobSet)) return false;
    context.wrote(found);
    return true;
  } catch (error) {
    if (isReason(error, 'NotFound')) return true;
    throw error;
  }
}

async function deleteJob(context: CarryOut, job: Stored<Job>): Promise<void> {
  const { client, signal } = context;
  try {
    await client.delete(JOBS, keyOf(job), {
      propagationPolicy: 'Foreground',
      preconditions: { uid: job.metadata.uid },
      signal,
    });
  } catch (error) {
    // Gone already, or the name belongs to a successor: both are what was wanted.
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
  context.deleted(job);
}

/**
 * The Job's finalizer keeps the Pod until it is said, as Kubernetes says of Pods of nodes that are
 * gone, that it failed for no fault of its own: then its Job counts it, and a Pod failure policy can
 * ignore it. In this order, because a Pod that has failed is not looked at again. A node that comes
 * back finds the Pod gone, and ends what is left of it.
 */
async function deleteLostPod(
  { client, clock, signal, forced }: CarryOut,
  { namespace, name, uid, node }: OverduePod,
): Promise<void> {
  const at = { namespace, name };
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: LOST_NODE_DEADLINE_REASON,
    message: `Node ${node ?? ''} did not say in time that the Pod has ended`,
    lastTransitionTime: timeText(clock.now()),
  };
  const status = { phase: 'Failed', conditions: [condition] };
  const patch = { metadata: { uid }, status };
  try {
    await client.delete(PODS, at, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
    forced(LOST_NODE_DEADLINE_REASON);
    await client.patch(PODS, at, { type: 'strategic', patch }, { subresource: 'status', signal });
  } catch (error) {
    // Gone already, or its replacement has the name: both are what was wanted.
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

async function deleteJobSet({ client, jobSet, signal }: CarryOut): Promise<void> {
  try {
    await client.delete(JOBSETS, keyOf(jobSet), {
      propagationPolicy: 'Foreground',
      preconditions: { uid: jobSet.metadata.uid },
      signal,
    });
  } catch (error) {
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

async function resumeJob(
  context: CarryOut,
  { job, resume }: Extract<Action, { kind: 'ResumeJob' }>,
): Promise<FailedAction | undefined> {
  if (resume.clearsStartTime)
    await patchJob(context, job, { status: { startTime: null } }, 'status');
  try {
    await patchJob(context, job, resume.patch);
    return undefined;
  } catch (error) {
    // The Job stays suspended: it must not run with other resources than were asked for.
    if (resume.changesResources && isReason(error, 'Invalid')) {
      return { reason: 'FailedResourcePropagation', error };
    }
    throw error;
  }
}

/** A merge patch. The UID in it makes the API server refuse it for a successor of the same name. */
async function patchJob(
  context: CarryOut,
  job: Stored<Job>,
  { metadata, ...others }: { readonly metadata?: ObjectMeta; readonly [field: string]: unknown },
  subresource?: 'status',
): Promise<void> {
  const { client, signal } = context;
  const patch = { ...others, metadata: { ...metadata, uid: job.metadata.uid } };
  const options = subresource === undefined ? { signal } : { signal, subresource };
  try {
    context.wrote(await client.patch(JOBS, keyOf(job), { type: 'merge', patch }, options));
  } catch (error) {
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

function keyOf({ metadata }: KubeObject): ObjectKey {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}
