/** What commands about JobSets share: its name, the way to its cluster, and how they end. */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import { allPages } from '@lockstep/kube/runtime/client/pages.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import { JOBSET_UID } from '../jobset/names.ts';
import { namespaceErrors } from './arguments.ts';
import { type Connected, type ConnectionFlags, connectTo } from './cluster-connection.ts';
import { onTermination } from './termination.ts';

export interface JobSetName {
  readonly name: string;
  /** Undefined: the namespace of the kubeconfig's context, as in kubectl. */
  readonly namespace: string | undefined;
}

/** One line for each fault: the argument, its value and what is allowed. */
export function jobSetNameErrors({ name, namespace }: JobSetName): readonly string[] {
  return [
    ...dns1123SubdomainErrors(name).map((why) => `the name of the JobSet is "${name}": ${why}`),
    ...namespaceErrors(namespace),
  ];
}

export interface NamedJobSet {
  readonly connection: Connected;
  readonly client: Client;
  readonly at: { readonly namespace: string; readonly name: string };
  /** As it was found. */
  readonly jobSet: Stored<JobSet>;
  /** Aborts with a signal of the user. */
  readonly signal: AbortSignal;
}

/**
 * Finds the JobSet and runs the command, whose exit code it returns, or the code of the signal that
 * the user sent meanwhile. Rejects as `connectTo` does, and if there is no such JobSet.
 */
export async function withJobSet(
  { name, namespace }: JobSetName,
  flags: ConnectionFlags,
  run: (named: NamedJobSet) => Promise<number>,
): Promise<number> {
  return withCluster(flags, async ({ signal, ...connection }) => {
    const { client, access } = connection;
    const at = { namespace: namespace ?? access.namespace, name };
    const jobSet = await existingJobSet(client, at, signal);
    return run({ connection, client, at, jobSet, signal });
  });
}

/**
 * Connects, runs the command and returns its exit code, or the code of the signal that the user
 * sent meanwhile. Rejects as `connectTo` does.
 */
export async function withCluster(
  flags: ConnectionFlags,
  run: (cluster: Connected & { readonly signal: AbortSignal }) => Promise<number>,
): Promise<number> {
  const termination = onTermination();
  const { signal } = termination;
  const over = new AbortController();
  try {
    const connection = await connectTo(flags, signal);
    try {
      const code = await run({ ...connection, signal: AbortSignal.any([signal, over.signal]) });
      return termination.exitCode() ?? code;
    } finally {
      // After a failure other requests may still be out. They would be tried again, for ever.
      over.abort();
      connection.close();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return termination.exitCode() ?? 0;
  } finally {
    termination.dispose();
  }
}

/** The exit code of a command that looks until Ctrl-C, which is no failure then. */
export function unlessInterrupted(code: number): number {
  return code === EXIT_INTERRUPTED ? 0 : code;
}
const EXIT_INTERRUPTED = 130;

/** Rejects with the names that there are, if there is none of this name. */
export async function existingJobSet(
  client: Client,
  at: ObjectKey,
  signal: AbortSignal,
): Promise<Stored<JobSet>> {
  const jobSet = await findJobSet(client, at, signal);
  if (jobSet === undefined) throw new Error(await whatIsThere(client, at, signal));
  return jobSet;
}

/** Undefined if there is none. */
export function findJobSet(
  client: Client,
  at: ObjectKey,
  signal: AbortSignal,
): Promise<Stored<JobSet> | undefined> {
  return unlessGone(client.get(JOBSETS, at, { signal }));
}

/** All objects of a kind with the JobSet's labels, perhaps objects of strangers among them. */
export async function allLabelled<T extends KubeObject>(
  of: Resource<T>,
  { client, jobSet, at, signal }: Omit<NamedJobSet, 'connection'>,
): Promise<readonly Stored<T>[]> {
  const selected = { ...labelledBy(jobSet, at), limit: PAGE_SIZE, signal };
  return allPages((next) => client.list(of, { ...selected, ...next }));
}

/** Selects what the JobSet's labels name: its Jobs and Pods, and perhaps objects of strangers. */
export function labelledBy(
  { metadata }: Stored<JobSet>,
  { namespace }: NamedJobSet['at'],
): { readonly namespace: string; readonly labelSelector: string } {
  return { namespace, labelSelector: `${JOBSET_UID}=${metadata.uid}` };
}

/** Objects per request. */
const PAGE_SIZE = 500;
const MAX_NAMES = 10;
export const UNKNOWN_API =
  'this cluster does not know JobSets: run "lockstep install"; if it is the cluster of "lockstep up", its definition was deleted: start it again';

/** Says that there is no such JobSet, and which there are: most wrong names are slips. */
async function whatIsThere(
  client: Client,
  { namespace = '', name }: ObjectKey,
  signal: AbortSignal,
): Promise<string> {
  const missing = `there is no JobSet ${namespace}/${name}`;
  try {
    const { items, metadata } = await client.list(JOBSETS, { namespace, limit: MAX_NAMES, signal });
    if (items.length === 0) return `${missing}, nor any other in namespace ${namespace}`;
    const names = items.map((one) => one.metadata.name).join(', ');
    const more = metadata.continue ? ', and more' : '';
    return `${missing}; in namespace ${namespace} there are ${names}${more}`;
  } catch (error) {
    if (isReason(error, 'NotFound')) return UNKNOWN_API;
    // Listing may be forbidden, but the first error is still worth reporting.
    signal.throwIfAborted();
    return missing;
  }
}
