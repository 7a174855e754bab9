/** `lockstep status JOBSET`: a JobSet and its members, once or live. */
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { claims } from '../../jobset/membership.ts';
import { JOBSET_UID } from '../../jobset/names.ts';
import type { Stored } from '../../kube/meta.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors } from '../../kube/name-rules.ts';
import { PODS, type Pod } from '../../kube/objects/pod.ts';
import { isReason } from '../../kube/status.ts';
import { nodeClock } from '../../runtime/adapters/node-clock.ts';
import { systemRandom } from '../../runtime/adapters/system-random.ts';
import type { Client, ObjectKey } from '../../runtime/client/client.ts';
import { allPages } from '../../runtime/client/pages.ts';
import { createInformer } from '../../runtime/informer/create-informer.ts';
import type { Informer } from '../../runtime/informer/informer.ts';
import { SILENT } from '../../runtime/ports/logger.ts';
import { type ConnectionFlags, connectTo } from '../cluster-connection.ts';
import { onTermination } from '../termination.ts';
import { HubMembers } from './hub-members.ts';
import { followStatus } from './live-status.ts';
import { NodeHealth } from './node-health.ts';
import { livePrinter, printStatus, type StatusOutput, type Terminal } from './status-printer.ts';
import { type StatusView, statusView } from './status-view.ts';

export interface JobSetStatusOptions {
  readonly name: string;
  /** Undefined: the namespace of the kubeconfig's context, as in kubectl. */
  readonly namespace: string | undefined;
  readonly output: StatusOutput;
  readonly isLive: boolean;
}

export interface JobSetStatusFlags {
  readonly namespace?: string | undefined;
  readonly output?: string | undefined;
  readonly watch?: boolean | undefined;
}

/** The options, or one line for each wrong argument: its name, its value and what is allowed. */
export function parseJobSetStatus(
  name: string,
  { namespace, output, watch }: JobSetStatusFlags,
): { readonly options: JobSetStatusOptions } | { readonly errors: readonly string[] } {
  const namespaceErrors = namespace === undefined ? [] : dns1123LabelErrors(namespace);
  const errors = [
    ...dns1123SubdomainErrors(name).map((why) => `the name of the JobSet is "${name}": ${why}`),
    ...namespaceErrors.map((why) => `--namespace is "${namespace}": ${why}`),
    ...(output === undefined || output === 'json'
      ? []
      : [`--output is "${output}", allowed is json`]),
  ];
  if (errors.length > 0) return { errors };
  const form = output === 'json' ? 'json' : 'table';
  return { options: { name, namespace, output: form, isLive: watch === true } };
}

const EXIT_FAILURE = 1;
const EXIT_INTERRUPTED = 130;
/** Pods per request. */
const PAGE_SIZE = 500;

export async function jobSetStatus(
  { name, namespace: given, output, isLive }: JobSetStatusOptions,
  flags: ConnectionFlags,
): Promise<number> {
  const termination = onTermination();
  const { signal } = termination;
  try {
    const connection = await connectTo(flags, signal);
    const { client, access } = connection;
    const hub = new HubMembers(connection, nodeClock);
    try {
      const at = { namespace: given ?? access.namespace, name };
      const jobSet = await find(client, at, signal);
      if (jobSet === undefined) {
        process.stderr.write(`lockstep: ${await whatIsThere(client, at, signal)}\n`);
        return EXIT_FAILURE;
      }
      const run = isLive ? showLive : showOnce;
      const nodes = new NodeHealth(client, nodeClock);
      await run({ client, hub, nodes, jobSet, at, output, signal });
      return 0;
    } finally {
      hub.close();
      connection.close();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    termination.dispose();
  }
  // Ctrl-C is the usual way to stop looking, not a failure.
  const code = termination.exitCode() ?? 0;
  return isLive && code === EXIT_INTERRUPTED ? 0 : code;
}

interface Shown {
  readonly client: Client;
  readonly hub: HubMembers;
  readonly nodes: NodeHealth;
  readonly jobSet: Stored<JobSet>;
  readonly at: ObjectKey;
  readonly output: StatusOutput;
  readonly signal: AbortSignal;
}

async function showOnce(shown: Shown): Promise<void> {
  const { client, jobSet, at, output, signal } = shown;
  const pods = await allPages((next) =>
    client.list(PODS, { ...podsOf(jobSet, at), limit: PAGE_SIZE, ...next, signal }),
  );
  const view = await viewOf(jobSet, pods, shown, signal);
  printStatus(view, output, STANDARD_OUTPUT);
  if (view.problem !== undefined) process.stderr.write(`lockstep: ${view.problem}\n`);
}

async function showLive(shown: Shown): Promise<void> {
  const { client, jobSet, at, output, signal } = shown;
  const pods: Informer<Pod> = createInformer({
    client,
    resource: PODS,
    ...podsOf(jobSet, at),
    clock: nodeClock,
    random: systemRandom,
    logger: SILENT,
  });
  try {
    const isGone = await followStatus({
      clock: nodeClock,
      signal,
      look: async (within) => {
        await pods.whenSynced(within);
        const now = await find(client, at, within);
        if (now === undefined || now.metadata.uid !== jobSet.metadata.uid) return undefined;
        return viewOf(now, [...pods.store.values()], shown, within);
      },
      show: livePrinter(output, STANDARD_OUTPUT, () => new Date(nodeClock.now())),
    });
    if (isGone) process.stderr.write(`lockstep: JobSet ${at.namespace}/${at.name} was deleted\n`);
  } finally {
    await pods.stop();
  }
}

async function viewOf(
  jobSet: Stored<JobSet>,
  labelled: readonly Stored<Pod>[],
  { hub, nodes }: Pick<Shown, 'hub' | 'nodes'>,
  signal: AbortSignal,
): Promise<StatusView> {
  const pods = labelled.filter((pod) => claims(pod, jobSet));
  const names = pods.flatMap(({ spec: { nodeName } }) =>
    nodeName === undefined ? [] : [nodeName],
  );
  const [asked, notReady] = await Promise.all([
    hub.ask(jobSet.metadata.uid, pods, signal),
    nodes.notReady(new Set(names), signal),
  ]);
  if ('reports' in asked) return statusView(jobSet, pods, asked.reports, notReady);
  return { ...statusView(jobSet, pods, undefined, notReady), problem: asked.problem };
}

function podsOf(
  { metadata }: Stored<JobSet>,
  { namespace }: ObjectKey,
): { readonly namespace: string; readonly labelSelector: string } {
  return { namespace: namespace ?? '', labelSelector: `${JOBSET_UID}=${metadata.uid}` };
}

async function find(
  client: Client,
  at: ObjectKey,
  signal: AbortSignal,
): Promise<Stored<JobSet> | undefined> {
  try {
    return await client.get(JOBSETS, at, { signal });
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
    return undefined;
  }
}

const MAX_NAMES = 10;
const UNKNOWN_API =
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

const STANDARD_OUTPUT: Terminal = {
  write: (text) => {
    process.stdout.write(text);
  },
  get screen() {
    const { isTTY, rows, columns } = process.stdout;
    return isTTY ? { rows, columns } : undefined;
  },
};
