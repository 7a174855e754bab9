/**
 * Connects the hub to the operator's caches. The caches decide membership, and the tracker receives
 * what agents say.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type {
  PageAnswer,
  StreamAcceptor,
  StreamRequest,
} from '@lockstep/kube/runtime/ports/stream.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { type MemberReport, memberCause } from '../../jobset/hub/member-report.ts';
import type { ServedHub } from '../../jobset/injection/agent-hub.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { identityOf, membershipOf, ownerKey } from '../../jobset/membership.ts';
import { EPOCH, JOBSET_NAME, REPLICATED_JOB_NAME } from '../../jobset/names.ts';
import type { MemberSteps } from '../../jobset/progress/group-progress.ts';
import { type PodFacts, podFacts } from '../../jobset/roster/pod-facts.ts';
import { epochsOf } from '../../jobset/status/epochs.ts';
import { type GroupReport, groupReport } from '../../jobset/view/group-report.ts';
import { silenceOf } from '../../jobset/view/silence.ts';
import { GROUPS_BY_NAMESPACE } from '../tracking/caches.ts';
import type { GroupTracker } from '../tracking/group-tracker.ts';
import type { MemberFates } from '../tracking/member-fates.ts';
import { LIVING, podsOf } from '../tracking/pod-reads.ts';
import { spokenFacts } from '../tracking/spoken-facts.ts';
import type { HubMember } from './agent-stream.ts';
import { Hub } from './hub.ts';
import { MemberPages } from './member-pages.ts';
import { PageBudget } from './page-budget.ts';
import type { PodClaim, TokenVerdict } from './pod-token.ts';
import { type MemberFinding, streamAdmission } from './stream-admission.ts';
import type { PodLookup } from './unseen-pods.ts';

export interface HubConnectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
}

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
  readonly podOf: (token: string) => Promise<TokenVerdict>;
  /** By default `DEFAULT_MAX_STREAMS`. */
  readonly maxStreams?: number | undefined;
  /** For requests that agents cause; by default the operator's. */
  readonly client?: Client | undefined;
}

interface Caches {
  readonly jobSets: Informer<JobSet>;
  readonly jobWithUid: (uid: string) => Stored<Job> | undefined;
  readonly livingPods: Informer<PartialObjectMetadata>;
  readonly fates: MemberFates;
}

export function connectHub(
  options: HubConnectionOptions,
  settings: Pick<HubSettings, 'podOf' | 'client' | 'maxStreams'>,
  caches: Caches,
  tracker: GroupTracker,
): HubConnection {
  const { clock } = options;
  const { podOf, client = options.client } = settings;
  const logger = options.logger.with({ logger: 'hub' });
  const hub = new Hub({
    ...options,
    maxStreams: settings.maxStreams,
    logger,
    readJobSet: (key, signal) => readJobSet(client, key, signal),
    listPods: (namespace, uid, signal) => unendingPods(client, { namespace, uid }, signal),
    announced: (podUid, announcement) => {
      const pod = tracker.livePod(podUid)?.pod;
      if (pod !== undefined) caches.fates.announced(pod, announcement);
      return tracker.podSpoke(podUid, spokenFacts(announcement));
    },
    left: (podUid, seenMs) => caches.fates.left(podUid, seenMs, tracker.livePod(podUid)?.pod),
    succeeded: (podUid, success) => {
      const pod = tracker.livePod(podUid)?.pod;
      if (pod !== undefined) caches.fates.succeeded(pod, success);
    },
    noticed: (podUid, epoch) => {
      tracker.podSpoke(podUid, { notice: { epoch } });
    },
  });
  caches.jobSets.subscribe({
    added: (jobSet) => hub.jobSetSeen(jobSet),
    updated: (jobSet) => hub.jobSetSeen(jobSet),
  });
  caches.livingPods.subscribe({
    updated: (pod, old) => {
      if (pod.metadata.uid !== old.metadata.uid) hub.podEnded(old.metadata.uid);
      else if (pod.metadata.deletionTimestamp !== old.metadata.deletionTimestamp) {
        hub.podEnding(pod.metadata.uid);
      }
      if (hasLeftHub(pod, old, hub, tracker)) hub.metrics.fellBack();
    },
    deleted: ({ metadata }) => hub.podEnded(metadata.uid),
  });
  const { accept, identify, stop } = streamAdmission({
    hub,
    clock,
    logger,
    podOf,
    membership: (claim) => memberOf(claim, caches),
    look: (claim, signal) => look(client, claim, signal),
  });
  const pages = new MemberPages({
    clock,
    *reportsOf(group) {
      const nowMs = clock.monotonic();
      const startMs = hub.startMsOf(group.slice(group.lastIndexOf('/') + 1));
      for (const pod of tracker.podsOf(group)) yield reportOf(pod, hub, caches, nowMs, startMs);
    },
  });
  const groupPages = new MemberPages({
    clock,
    reportsOf: (namespace) => groupsIn(namespace, hub, caches, tracker, clock),
  });
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
    listMembers: answerer((member) => pages.page(groupOf(member))),
    listGroups: answerer(({ namespace }) => groupPages.page(namespace)),
    close: () => {
      hub.close();
      stop();
    },
  };
}

/** `ownerKey` of the JobSet. */
function groupOf({ namespace, jobSet, jobSetUid: uid }: HubMember): string {
  return ownerKey({ namespace, name: jobSet.slice(namespace.length + 1), uid });
}

/** Groups whose agents have streams: the hub knows nothing of others. */
function* groupsIn(
  namespace: string,
  hub: Hub,
  { jobSets }: Caches,
  tracker: GroupTracker,
  clock: Clock,
): Iterable<GroupReport> {
  for (const jobSet of jobSets.store.byIndex(GROUPS_BY_NAMESPACE, namespace)) {
    const { uid } = jobSet.metadata;
    if (hub.streamsOf(uid) === 0) continue;
    const epoch = epochsOf(jobSet.status ?? {}).deprecated + 1;
    const steps: MemberSteps[] = [];
    const nowMs = clock.monotonic();
    let announced = 0;
    for (const pod of tracker.podsOf(ownerKey(identityOf(jobSet)))) {
      if (pod.epoch === epoch) announced++;
      const told = hub.hasStream(pod.uid) ? hub.progress.at(pod.uid, nowMs) : undefined;
      if (told !== undefined) steps.push(told);
    }
    const silence = silenceOf(jobSet, steps, clock.now());
    yield groupReport({ jobSet: uid, epoch, announced, silence }, clock.now());
  }
}

function reportOf(
  { namespace, name, uid, epoch, notice }: PodFacts,
  hub: Hub,
  { livingPods }: Caches,
  nowMs: number,
  startMs: number | undefined,
): MemberReport {
  const told = hub.progress.at(uid, nowMs);
  const progress = told?.firstStepMs === undefined ? told : { ...told, ...defined({ startMs }) };
  const written = livingPods.store.get(`${namespace}/${name}`);
  const isWritten =
    epoch !== undefined && written !== undefined && podFacts(written)?.epoch === epoch;
  return {
    pod: name,
    epoch: epoch ?? null,
    channel: hub.hasStream(uid) ? 'Hub' : isWritten ? 'API' : null,
    ...memberCause(notice),
    ...defined({ progress }),
  };
}

/** Whether an agent that spoke here has no stream any more and announces on its Pod. */
function hasLeftHub(
  { metadata }: Stored<PartialObjectMetadata>,
  old: Stored<PartialObjectMetadata>,
  hub: Hub,
  tracker: GroupTracker,
): boolean {
  return (
    metadata.annotations?.[EPOCH] !== old.metadata.annotations?.[EPOCH] &&
    tracker.livePod(metadata.uid)?.spoken !== undefined &&
    !hub.hasStream(metadata.uid)
  );
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
function memberOf(claim: PodClaim, { jobSets, jobWithUid, livingPods }: Caches): MemberFinding {
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
