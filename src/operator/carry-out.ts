import type { Action } from '../jobset/convergence.ts';
import type { JobSet } from '../jobset/jobset.ts';
import { SERVICES } from '../kube/core.ts';
import { JOBS, type Job } from '../kube/job.ts';
import type { Stored } from '../kube/meta.ts';
import { isReason } from '../kube/status.ts';
import type { Client, ObjectKey } from '../runtime/client.ts';
import { forEachConcurrently } from '../runtime/concurrency.ts';
import { ownerOf } from './group-tracker.ts';

/**
 * Carries out the actions of a plan. Each can be repeated without harm: creations are by name,
 * deletions name the UID, and changes are the same every time.
 */
export interface CarryOut {
  readonly client: Client;
  readonly jobSet: Stored<JobSet>;
  readonly signal: AbortSignal;
  /** A Job as the API server returned it. */
  readonly wrote: (job: Stored<Job>) => void;
  readonly deleted: (job: Stored<Job>) => void;
}

/** A creation that failed, for the Event that says so. */
export interface FailedCreation {
  readonly reason: 'JobCreationFailed' | 'HeadlessServiceCreationFailed';
  readonly error: unknown;
}

/** Requests of one JobSet that are under way at a time, as upstream has it. */
export const MAX_PARALLEL_REQUESTS = 50;

/** Resolves with creations that failed; rejects if anything else did, when all were tried. */
export async function carryOut(
  context: CarryOut,
  actions: readonly Action[],
): Promise<readonly FailedCreation[]> {
  const failed: FailedCreation[] = [];
  await forEachConcurrently(actions, MAX_PARALLEL_REQUESTS, async (action) => {
    const failure = await perform(context, action);
    if (failure !== undefined) failed.push(failure);
  });
  return failed;
}

async function perform(context: CarryOut, action: Action): Promise<FailedCreation | undefined> {
  switch (action.kind) {
    case 'CreateService':
      return createService(context, action);
    case 'CreateJob':
      return createJob(context, action.job);
    case 'DeleteJob':
      await deleteJob(context, action.job);
      return undefined;
    case 'SuspendJob':
      await patchJob(context, action.job, { spec: { suspend: true } });
      return undefined;
    case 'ResumeJob':
      await resumeJob(context, action);
      return undefined;
  }
}

async function createService(
  { client, signal }: CarryOut,
  { service }: Extract<Action, { kind: 'CreateService' }>,
): Promise<FailedCreation | undefined> {
  try {
    await client.create(SERVICES, service, { signal });
    return undefined;
  } catch (error) {
    if (isReason(error, 'AlreadyExists')) return undefined;
    return { reason: 'HeadlessServiceCreationFailed', error };
  }
}

async function createJob(context: CarryOut, job: Job): Promise<FailedCreation | undefined> {
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
    if (ownerOf(found)?.uid !== context.jobSet.metadata.uid) return false;
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

async function resumeJob(
  context: CarryOut,
  { job, resume }: Extract<Action, { kind: 'ResumeJob' }>,
): Promise<void> {
  if (resume.clearsStartTime)
    await patchJob(context, job, { status: { startTime: null } }, 'status');
  await patchJob(context, job, resume.patch);
}

/** The UID in the patch makes the API server refuse it for a successor of the same name. */
async function patchJob(
  context: CarryOut,
  job: Stored<Job>,
  patch: Readonly<Record<string, unknown>>,
  subresource?: 'status',
): Promise<void> {
  const { client, signal } = context;
  const body = { type: 'merge', patch: { ...patch, metadata: { uid: job.metadata.uid } } } as const;
  const options = subresource === undefined ? { signal } : { signal, subresource };
  try {
    context.wrote(await client.patch(JOBS, keyOf(job), body, options));
  } catch (error) {
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

function keyOf({ metadata }: Job): ObjectKey {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}
