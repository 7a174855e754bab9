/**
 * What a group looks like from outside, without what differs from run to run: names and UIDs by
 * chance, times, and how often it has restarted.
 */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS, SERVICES } from '@lockstep/kube/objects/core.ts';
import {
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  JOBS,
  type Job,
} from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { ROLE_BINDINGS, ROLES } from '@lockstep/kube/objects/rbac.ts';
import { jsonPatchDiff } from '@lockstep/kube/patch/json-patch-diff.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { AGENT_STARTS, EPOCH, EXECUTION_ATTEMPT, NOTICE } from '../../jobset/names.ts';
import { restartsInPlace } from '../../jobset/policies/restart-strategy.ts';
import { slotOf } from '../member.ts';
import { NAME, NAMESPACE } from '../user.ts';
import type { World } from '../world.ts';

/** All that is compared, as plain JSON. */
export interface FinalState {
  /** Undefined: the JobSet is gone. */
  readonly jobSet: JsonObject | undefined;
  /** By name. */
  readonly jobs: Readonly<Record<string, JsonObject>>;
  /** By slot; a slot has several entries if several Pods are in it. */
  readonly pods: Readonly<Record<string, readonly JsonObject[]>>;
  /** By kind and name. */
  readonly others: Readonly<Record<string, JsonObject>>;
  /** Members whose workers run, in the newest epoch if the group restarts in place. */
  readonly running: readonly string[];
}

/** Something that is not as it should be. */
export interface Finding {
  /** What was tried, and where. */
  readonly name: string;
  /** Each in one line. */
  readonly why: readonly string[];
}

/** What the operator makes in a group's namespace beside Jobs. */
const OTHERS: readonly Resource[] = [SERVICES, PERSISTENT_VOLUME_CLAIMS, ROLES, ROLE_BINDINGS];
/** Annotations that tell how the group came where it is. */
const OF_HISTORY: ReadonlySet<string> = new Set([EPOCH, AGENT_STARTS, NOTICE, EXECUTION_ATTEMPT]);
/** A restart that a suspend or a change interrupts continues later; a new JobSet has had none. */
const OF_A_RESTART = 'RestartingInPlace';
/** Labels by which Jobs select Pods; some servers give them to the Job too. */
const OF_SELECTORS: ReadonlySet<string> = new Set([
  CONTROLLER_UID_LABEL,
  'controller-uid',
  JOB_NAME_LABEL,
  'job-name',
]);
const MAX_TOLD_DIFFERENCES = 8;

export async function finalStateOf(world: World): Promise<FinalState> {
  const { client } = world.cluster;
  const all = async <T extends KubeObject>(of: Resource<T>): Promise<readonly Stored<T>[]> =>
    (await client.list(of, { namespace: NAMESPACE })).items;
  const jobSet = (await all(JOBSETS)).find(({ metadata }) => metadata.name === NAME);
  const jobs = await all(JOBS);
  const uids = [jobSet, ...jobs].flatMap((each) => each?.metadata.uid ?? []);
  const plain = (value: unknown): JsonObject => withoutChance(value, uids);
  const pods: Record<string, JsonObject[]> = {};
  for (const pod of await all(PODS)) {
    const slot = slotOf(pod);
    pods[slot] = [...(pods[slot] ?? []), plain(podFields(pod))];
  }
  const { epoch } = world.properties;
  const hasEpochs =
    jobSet === undefined || restartsInPlace(jobSet.spec, jobSet.metadata.annotations);
  return {
    jobSet: jobSet && plain(jobSetFields(jobSet)),
    jobs: Object.fromEntries(jobs.map((job) => [job.metadata.name, plain(jobFields(job))])),
    pods,
    others: await otherObjects(client, plain),
    running: world.members
      .filter((each) => (hasEpochs ? each.epoch === epoch : each.epoch !== undefined))
      .map(({ slot }) => slot),
  };
}

/** Where the second differs from the first, each in one line. */
export function differences(expected: FinalState, found: FinalState): readonly string[] {
  const changes = jsonPatchDiff(expected, found).filter(({ op }) => op !== 'test');
  const lines = changes.map((change) => {
    const value = 'value' in change ? ` ${JSON.stringify(change.value)}` : '';
    return `${change.op} ${change.path}${value}`;
  });
  const more = lines.length - MAX_TOLD_DIFFERENCES;
  return more > 0 ? [...lines.slice(0, MAX_TOLD_DIFFERENCES), `and ${more} more`] : lines;
}

function jobSetFields({ status = {} }: Stored<JobSet>): object {
  const { conditions = [], replicatedJobsStatus = [], terminalState, restartMode } = status;
  return {
    conditions: conditions
      .filter(({ type, status: is }) => is === 'True' && type !== OF_A_RESTART)
      .map(({ type, reason }) => `${type} ${reason}`)
      .toSorted(),
    replicatedJobs: replicatedJobsStatus.map(({ name, ...counts }) => {
      const { ready, active, succeeded, failed, suspended } = counts;
      return { name, ready, active, succeeded, failed, suspended };
    }),
    terminalState,
    restartMode,
    ranks: status.ranks,
  };
}

function jobFields({ metadata, spec, status = {} }: Stored<Job>): object {
  const { selector: _byUid, ...rest } = spec;
  const { active, ready, succeeded, failed, conditions = [] } = status;
  return {
    metadata: metadataFields(metadata),
    spec: rest,
    status: {
      counts: [active ?? 0, ready ?? 0, succeeded ?? 0, failed ?? 0],
      conditions: conditions
        .filter((each) => each.status === 'True')
        .map(({ type, reason }) => `${type} ${reason}`)
        .toSorted(),
    },
  };
}

function podFields({ metadata, spec, status = {} }: Stored<Pod>): object {
  const { nodeName: _byChance, ...rest } = spec;
  return {
    metadata: metadataFields(metadata),
    spec: rest,
    phase: status.phase,
    isEnding: metadata.deletionTimestamp !== undefined,
  };
}

function metadataFields({ labels, annotations }: KubeObject['metadata']): object {
  return { labels, annotations };
}

async function otherObjects(
  client: Client,
  plain: (value: unknown) => JsonObject,
): Promise<Readonly<Record<string, JsonObject>>> {
  const found: Record<string, JsonObject> = {};
  for (const of of OTHERS) {
    const { items } = await client.list(of, { namespace: NAMESPACE });
    for (const { metadata, ...object } of items) {
      const fields = { metadata: metadataFields(metadata), ...object, status: undefined };
      found[`${of.kind} ${metadata.name}`] = plain(fields);
    }
  }
  return found;
}

/** Without what is empty or by chance, and with `UID` for each of these UIDs. */
function withoutChance(value: unknown, uids: readonly string[]): JsonObject {
  let text = JSON.stringify(value, (key, member: unknown) => {
    if (OF_HISTORY.has(key) || OF_SELECTORS.has(key)) return undefined;
    const isEmpty =
      (Array.isArray(member) && member.length === 0) ||
      (isJsonObject(member) && Object.keys(member).length === 0);
    return isEmpty ? undefined : member;
  });
  for (const uid of uids) text = text.replaceAll(uid, 'UID');
  return JSON.parse(
    text.replaceAll(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access'),
  ) as JsonObject;
}
