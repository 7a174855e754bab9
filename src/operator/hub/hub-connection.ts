/**
 * Connects the hub to the operator's caches. The caches decide membership, and the roster receives
 * what agents say.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type {
  PageAnswer,
  StreamAcceptor,
  StreamRequest,
} from '@lockstep/kube/runtime/ports/stream.ts';
import { isReason } from '@lockstep/kube/status.ts';
import type { MemberReport } from '../../jobset/hub/member-report.ts';
import type { ServedHub } from '../../jobset/injection/agent-hub.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { identityOf, membershipOf, type Owner, ownerKey } from '../../jobset/membership.ts';
import { JOBSET_NAME, REPLICATED_JOB_NAME } from '../../jobset/names.ts';
import type { GroupView } from '../../jobset/roster/roster-group.ts';
import { epochsOf } from '../../jobset/status/epochs.ts';
import { type GroupReport, groupReport } from '../../jobset/view/group-report.ts';
import { silenceOf } from '../../jobset/view/silence.ts';
import { shownEnd } from '../../jobset/worker-end/shown-end.ts';
import { GROUPS_BY_NAMESPACE } from '../tracking/caches.ts';
import { LIVING, podsOf } from '../tracking/pod-reads.ts';
import type { RosterFeed } from '../tracking/roster-feed.ts';
import type { HubMember } from './agent-stream.ts';
import { Hub } from './hub.ts';
import { MemberPages } from './member-pages.ts';
import { PageBudget } from './page-budget.ts';
import type { PodClaim, TokenFinding } from './pod-token.ts';
import { measureProgress } from './progress-measures.ts';
import { type MemberFinding, streamAdmission } from './stream-admission.ts';
import type { PodLookup } from './unseen-pods.ts';

export interface HubConnectionOptions extends MeasuredPorts {}

export interface HubConnection {
  readonly hub: Hub;
  readonly accept: StreamAcceptor;
  /** The members of the JobSet of the requesting member: `MemberReport[]`. */
  readonly listMembers: (request: StreamRequest) => Promise<PageAnswer>;
  /** The groups in the namespace of the requesting member: `GroupReport[]`. */
  readonly listGroups: (request: StreamRequest) => Promise<PageAnswer>;
  /** Called when we no longer lead. */
  readonly close: () => void;
}

export interface HubSettings {
  /** The hub's address and authorities for injected agents; may change over time. */
  readonly access: () => ServedHub;
  /** The Pod of a token; rejects if the cluster does not answer. */
  readonly podOf: (token: string) => Promise<TokenFinding>;
  /** By default `DEFAULT_MAX_STREAMS`. */
  readonly maxStreams?: number | undefined;
  /** For requests that agents cause; by default the operator's. */
  readonly client?: Client | undefined;
}

export interface HubSources {
  readonly jobSets: Informer<JobSet>;
  readonly jobWithUid: (uid: string) => Stored<Job> | undefined;
  readonly livingPods: Informer<PartialObjectMetadata>;
  readonly feed: RosterFeed;
}

export function connectHub(
  options: HubConnectionOptions,
  settings: Pick<HubSettings, 'podOf' | 'client' | 'maxStreams'>,
  sources: HubSources,
): HubConnection {
  const { clock } = options;
  const { feed } = sources;
  const { roster } = feed;
  const { podOf, client = options.client } = settings;
  const logger = options.logger.with({ logger: 'hub' });
  const hub = new Hub({
    ...options,
    maxStreams: settings.maxStreams,
    logger,
    readJobSet: (key, signal) => readJobSet(client, key, signal),
    listPods: (namespace, uid, signal) => unendingPods(client, { namespace, uid }, signal),
    tell: (event) => feed.tell(event),
    measure: () => measureProgress(roster.groups(), clock.monotonic()),
  });
  feed.subscribe((news) => hub.hear(news));
  const { accept, identify, stop } = streamAdmission({
    hub,
    clock,
    logger,
    podOf,
    membership: (claim) => memberOf(claim, sources),
    look: (claim, signal) => look(client, claim, signal),
  });
  const pages = new MemberPages(clock);
  const groupPages = new MemberPages(clock);
  const budget = new PageBudget(clock);
  const answerer =
    (write: (member: HubMember) => Promise<Uint8Array>) =>
    async (request: StreamRequest): Promise<PageAnswer> => {
      const found = await identify(request);
      if (found.kind === 'Refuse') return found;
      return budget.answer(found.member, () => write(found.member));
    };
  return {
    hub,
    accept,
    listMembers: answerer((member) => {
      const jobSet = jobSetOf(member);
      const reports = () => reportsOf(roster.of(jobSet), clock.monotonic());
      return pages.page(ownerKey(jobSet), reports);
    }),
    listGroups: answerer(({ namespace }) =>
      groupPages.page(namespace, () => groupsIn(namespace, sources, clock)),
    ),
    close: () => {
      hub.close();
      stop();
    },
  };
}

function jobSetOf({ namespace, jobSet, jobSetUid: uid }: HubMember): Owner {
  return { namespace, name: jobSet.slice(namespace.length + 1), uid };
}

/** Groups whose agents have streams: the hub knows nothing of others. */
function* groupsIn(
  namespace: string,
  { jobSets, feed }: HubSources,
  clock: Clock,
): Iterable<GroupReport> {
  for (const jobSet of jobSets.store.byIndex(GROUPS_BY_NAMESPACE, namespace)) {
    const group = feed.roster.of(identityOf(jobSet));
    if (group.streams === 0) continue;
    const epoch = epochsOf(jobSet.status ?? {}).deprecated + 1;
    let announced = 0;
    for (const { newest } of group.pods()) if (newest.epoch === epoch) announced++;
    const silence = silenceOf(jobSet, group.steps(clock.monotonic()), clock.now());
    const { uid } = jobSet.metadata;
    yield groupReport({ jobSet: uid, epoch, announced, silence }, clock.now());
  }
}

function* reportsOf(group: GroupView, nowMs: number): Iterable<MemberReport> {
  const { startMs } = group;
  for (const { newest, written, streams, steps } of group.pods()) {
    const { name, epoch, notice } = newest;
    const told = steps?.at(nowMs);
    const progress = told?.firstStepMs === undefined ? told : { ...told, ...defined({ startMs }) };
    const isWritten = epoch !== undefined && written.epoch === epoch;
    yield {
      pod: name,
      epoch: epoch ?? null,
      channel: streams > 0 ? 'Hub' : isWritten ? 'API' : null,
      ...defined({ cause: shownEnd(notice?.end), progress }),
    };
  }
}

/** Reads without a version: from storage, never from a cache. */
async function readJobSet(
  client: Client,
  key: string,
  signal: AbortSignal,
): Promise<Stored<JobSet> | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  try {
    return await client.get(JOBSETS, { namespace, name }, { signal });
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function unendingPods(
  client: Client,
  jobSet: { readonly namespace: string; readonly uid: string },
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const pods = await podsOf(jobSet, LIVING, client, signal);
  const unending = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return new Set(unending.map(({ metadata }) => metadata.uid));
}

async function look(
  client: Client,
  { namespace, podName, podUid }: PodClaim,
  signal: AbortSignal,
): Promise<PodLookup> {
  try {
    const { metadata, status } = await client.get(PODS, { namespace, name: podName }, { signal });
    const hasEnded = status?.phase === 'Failed' || status?.phase === 'Succeeded';
    if (metadata.uid !== podUid || hasEnded) return 'Gone';
    return metadata.labels?.[JOBSET_NAME] === undefined ? 'Unrelated' : 'Lives';
  } catch (error) {
    if (isReason(error, 'NotFound')) return 'Gone';
    throw error;
  }
}

/** Labels count for nothing: a Pod whose Job is unknown has to wait. */
function memberOf(claim: PodClaim, { jobSets, jobWithUid, livingPods }: HubSources): MemberFinding {
  const pod = livingPods.store.get(`${claim.namespace}/${claim.podName}`);
  if (pod?.metadata.uid !== claim.podUid) return { kind: 'Unknown' };
  const found = membershipOf(pod, jobWithUid);
  if (found.kind === 'Claimant') return { kind: 'Unknown' };
  if (found.kind === 'Stranger') return found;
  const { job, jobSet: owner } = found;
  const jobSet = `${owner.namespace}/${owner.name}`;
  if (jobSets.store.get(jobSet)?.metadata.uid !== owner.uid) return { kind: 'Unknown' };
  return {
    kind: 'Member',
    // Texts of the cache, not of the claim: thousands of streams hold them.
    member: {
      namespace: owner.namespace,
      podName: pod.metadata.name,
      podUid: pod.metadata.uid,
      jobSet,
      jobSetUid: owner.uid,
      stage: job.metadata.labels?.[REPLICATED_JOB_NAME] ?? '',
      isEnding: pod.metadata.deletionTimestamp !== undefined,
    },
  };
}
