/** `lockstep status` for several JobSets: one row for each. */
import { defined } from '@lockstep/kube/json/defined.ts';
import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { allPages } from '@lockstep/kube/runtime/client/pages.ts';
import { unlessRefused } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { JOBSET_UID } from '../../jobset/names.ts';
import { type OverviewRow, overviewRow, podCountsOf } from '../../jobset/view/overview.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import { followStatus } from '../jobset-status/live-status.ts';
import { STANDARD_OUTPUT } from '../jobset-status/status-printer.ts';
import { UNKNOWN_API, unlessInterrupted, withCluster } from '../named-jobset.ts';
import { PORTS } from '../ports.ts';
import { tell } from '../tell.ts';
import { type HeardGroups, HubGroups } from './hub-groups.ts';
import { type ListView, liveListPrinter, printList } from './list-printer.ts';
import type { ListOptions } from './options.ts';

/** Objects per request. */
const PAGE_SIZE = 500;
const EXIT_FAILURE = 1;

/** Where and what is listed. */
interface Listed {
  readonly client: Client;
  /** Undefined: all. */
  readonly namespace: string | undefined;
  readonly options: ListOptions;
  readonly hub: Pick<HubGroups, 'ask'>;
  readonly signal: AbortSignal;
}

export async function listJobSets(options: ListOptions, flags: ConnectionFlags): Promise<number> {
  const code = await withCluster(flags, async ({ signal, ...connection }) => {
    const { client, access } = connection;
    const namespace = options.isEverywhere ? undefined : (options.namespace ?? access.namespace);
    const hub = new HubGroups(connection, PORTS.clock);
    const listed = { client, namespace, options, hub, signal };
    try {
      return await list(listed);
    } finally {
      hub.close();
    }
  });
  return options.isLive ? unlessInterrupted(code) : code;
}

async function list(listed: Listed): Promise<number> {
  const { namespace, options } = listed;
  // Watches would retry what the server refuses; this tells the user.
  const now = await lookOnce(listed);
  if (options.isLive) return follow(listed, now.view.problem === undefined);
  printList(now.view, options, STANDARD_OUTPUT, PORTS.clock.now());
  const { output } = options;
  const isForPeople = output !== 'json' && output !== 'yaml';
  const where = namespace === undefined ? '' : ` in ${namespace} namespace.`;
  if (now.missing.length === 0 && now.view.rows.length === 0 && isForPeople) {
    process.stderr.write(`No resources found${where}\n`);
  }
  for (const name of now.missing) {
    tell(`there is no JobSet ${namespace}/${name}`);
  }
  if (now.view.problem !== undefined) tell(now.view.problem);
  return now.missing.length === 0 ? 0 : EXIT_FAILURE;
}

interface Look {
  readonly view: ListView;
  /** Names of which there is no JobSet. */
  readonly missing: readonly string[];
}

/** Rejects if JobSets may not be listed; Jobs need not be. */
export async function lookOnce(listed: Listed): Promise<Look> {
  const { client, signal } = listed;
  const where = collectionOf(listed);
  const [jobSets, jobs] = await Promise.all([
    allPages((next) => client.list(JOBSETS, { ...where, limit: PAGE_SIZE, ...next, signal })).catch(
      (error: unknown) => {
        throw isReason(error, 'NotFound') ? new Error(UNKNOWN_API) : error;
      },
    ),
    unlessRefused(
      allPages((next) =>
        client.list(JOBS, { ...jobsOf(listed), limit: PAGE_SIZE, ...next, signal }),
      ),
      'Forbidden',
    ),
  ]);
  const { names } = listed.options;
  const wanted = wantedOf(listed, jobSets);
  const found = new Set(jobSets.map(({ metadata }) => metadata.name));
  return {
    view: viewOf(wanted, jobs, await heardOf(listed, wanted, signal)),
    missing: names.filter((name) => !found.has(name)),
  };
}

function collectionOf({ namespace, options: { selector } }: Listed) {
  return defined({ namespace, labelSelector: selector });
}

/** Every Job of a JobSet has this label. */
function jobsOf({ namespace }: Listed) {
  return { ...defined({ namespace }), labelSelector: JOBSET_UID };
}

function wantedOf(
  { options: { names } }: Listed,
  jobSets: readonly Stored<JobSet>[],
): readonly Stored<JobSet>[] {
  return jobSets.filter(({ metadata }) => names.length === 0 || names.includes(metadata.name));
}

async function heardOf(
  { hub, options: { output } }: Listed,
  jobSets: readonly Stored<JobSet>[],
  signal: AbortSignal,
): Promise<HeardGroups> {
  return output === 'name' ? new Map() : hub.ask(jobSets, signal);
}

function viewOf(
  jobSets: readonly Stored<JobSet>[],
  jobs: readonly Stored<Job>[] | undefined,
  heard: HeardGroups,
): ListView {
  const podsOf = jobs === undefined ? () => null : podCountsOf(jobs);
  const nowMs = PORTS.clock.now();
  const rows = jobSets
    .toSorted(byName)
    .map(
      (jobSet): OverviewRow =>
        overviewRow(jobSet, podsOf(jobSet), nowMs, heard.get(jobSet.metadata.uid)),
    );
  if (jobs !== undefined) return { rows };
  return { rows, problem: 'you may not list Jobs, so it is unknown how many Pods are ready' };
}

function byName({ metadata: a }: Stored<JobSet>, { metadata: b }: Stored<JobSet>): number {
  const [one, other] = [`${namespaceOf(a)}/${a.name}`, `${namespaceOf(b)}/${b.name}`];
  return one < other ? -1 : one > other ? 1 : 0;
}

async function follow(listed: Listed, mayReadJobs: boolean): Promise<number> {
  const { client, options, signal } = listed;
  const common = { client, ...PORTS };
  const jobSets: Informer<JobSet> = createInformer({
    ...common,
    resource: JOBSETS,
    ...collectionOf(listed),
  });
  const jobs: Informer<Job> | undefined = mayReadJobs
    ? createInformer({ ...common, resource: JOBS, ...jobsOf(listed) })
    : undefined;
  try {
    await followStatus<ListView>({
      clock: PORTS.clock,
      signal,
      look: async (within) => {
        await Promise.all([jobSets.whenSynced(within), jobs?.whenSynced(within)]);
        const wanted = wantedOf(listed, [...jobSets.store.values()]);
        const heard = await heardOf(listed, wanted, within);
        return viewOf(wanted, jobs && [...jobs.store.values()], heard);
      },
      show: liveListPrinter(options, STANDARD_OUTPUT, () => PORTS.clock.now()),
    });
    return 0;
  } finally {
    await Promise.all([jobSets.stop(), jobs?.stop()]);
  }
}
