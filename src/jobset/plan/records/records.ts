/**
 * Adds the workers that failed first to the record of a restart: suspects, the rank in words, and
 * last words. The first write that releases the next epoch, ends it, or fails the JobSet carries
 * them. A crash loop that holds the group back gets a write of its own before
 * (`docs/design/culprits.md#where-it-stands`).
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { failureInWords, isFailure, likeliest } from '../../culprits/failure-words.ts';
import { readable } from '../../culprits/readable.ts';
import { suspectsOf } from '../../culprits/suspects.ts';
import { currentEpoch, slotCount } from '../../epoch/in-place-restart.ts';
import type { Witness } from '../../epoch/witness.ts';
import {
  type JobSetStatus,
  type LastWords,
  MAX_SUSPECTS,
  type RestartRecord,
  type RestartWitness,
  type Suspect,
} from '../../jobset-status.ts';
import type { GroupEvidence, MemberEnd, MemberEvidence } from '../../roster/group-evidence.ts';
import { rankIn, workerInWords } from '../../roster/worker-name.ts';
import { releasedEpoch } from '../../status/epochs.ts';
import { hangInWords } from '../../worker-end/end-in-words.ts';
import type { Decision, PlannedEvent } from '../decision.ts';
import type { GroupFacts } from '../facts.ts';
import type { SuspectAnswer, SuspectPod } from '../questions.ts';

/** Ends of members in earlier epochs are in the status, or do not matter any more. */
export function oldestUnsettledEpoch(status: JobSetStatus): number {
  const epoch = currentEpoch(status);
  const isReleased = status.replicatedJobsStatus?.some(
    ({ name }) => releasedEpoch(status, name) === epoch,
  );
  return isReleased === true ? epoch : epoch - 1;
}

/** Asks once about suspects whose nodes are unknown, and about `others`. */
export function askAboutSuspects(
  record: RestartRecord,
  facts: GroupFacts,
  others: readonly SuspectPod[] = [],
): readonly Decision[] {
  const pods = [...podsToRead(record, facts), ...others];
  const question = { kind: 'Suspects', epoch: record.epoch, pods } as const;
  return pods.length === 0 || facts.answer(question) ? [] : [{ question }];
}

/** Suspects whose nodes are unknown, and a Pod that may show what its agent cannot report. */
function podsToRead(record: RestartRecord, facts: GroupFacts): readonly SuspectPod[] {
  if (record.suspects !== undefined) return [];
  const { members, ...group } = evidenceOf(record, facts);
  const suspects = suspectsOf({ ...group, members });
  const nameless = suspects.filter(({ member }) => member.node === undefined);
  const [first, ...others] = members.flatMap(({ member, end }) =>
    end.kind === 'Returned' ? [{ member, atMs: end.atMs }] : [],
  );
  const returned = first && others.reduce((a, b) => (b.atMs < a.atMs ? b : a), first);
  return [...(returned === undefined ? [] : [returned]), ...nameless]
    .slice(0, MAX_SUSPECTS)
    .map(({ member }) => ({ name: member.pod, uid: member.podUid }));
}

/**
 * The record with its suspects, and the last words of the first suspect that has some, or else of
 * the witness. Suspects that it already has stay: later events say nothing about them.
 */
export function withSuspects(record: RestartRecord, facts: GroupFacts): RestartRecord {
  if (record.suspects !== undefined) return record;
  const evidence = evidenceOf(record, facts);
  const suspects = suspectsOf(evidence).map(({ member, ...found }): Suspect => {
    const { replicatedJob, jobIndex, completionIndex, pod, node } = member;
    const worker = workerInWords(member);
    const rank = { replicatedJob, jobIndex, ...defined({ completionIndex }) };
    return { worker, ...rank, pod, ...defined({ node }), ...found };
  });
  const speakers = [...suspects, ...(record.witness === undefined ? [] : [record.witness])];
  const lastWords = firstOf(speakers.map(({ pod }) => lastWordsOf(pod, evidence)));
  return {
    ...record,
    ...(suspects.length === 0 ? {} : { suspects }),
    ...(lastWords === undefined ? {} : { lastWords }),
  };
}

/** The record before the release that closes it: an empty list if there are no suspects. */
export function judged(record: RestartRecord, facts: GroupFacts): RestartRecord {
  return { suspects: [], ...withSuspects(record, facts) };
}

/** `epoch 3 ended because of worker 5 ...`; undefined without a certain suspect. */
export function culpritInWords({ epoch, suspects, cause }: RestartRecord): string | undefined {
  if (likeliest(suspects)?.confidence !== 'Certain') return undefined;
  return `epoch ${epoch} ended because of ${failureInWords({ suspects, cause }, 'RankAndPod')}`;
}

/** Like `culpritInWords`, but also for a likely or unknown suspect; undefined: no worker failed. */
export function judgedInWords(record: RestartRecord): string | undefined {
  if (!isFailure(record)) return undefined;
  const told = `epoch ${record.epoch} ended: ${failureInWords(record, 'RankAndPod')}`;
  return culpritInWords(record) ?? told;
}

export function culpritEvent(note: string): PlannedEvent {
  return { type: 'Warning', reason: 'CulpritFound', note };
}

/** The witness with its rank in words, and how it hung. */
export function identified(
  witness: Witness,
  job: Job | undefined,
  { group, endsIn }: Pick<GroupFacts, 'group' | 'endsIn'>,
): Witness {
  const rank = job && witness.slot !== undefined ? rankIn(job, witness.slot) : undefined;
  const worker = rank && workerInWords(rank);
  const named = { ...witness.record, ...defined({ worker }) };
  const told = endsIn?.(group.epoch).find(({ member }) => member.pod === named.pod)?.end;
  const message = told?.kind === 'Ended' ? hangInWords(told) : undefined;
  const record = { ...named, ...processIn(told) };
  if (message === undefined) return { ...witness, record };
  const { signal: _, ...rest } = record;
  return { ...witness, record: { ...rest, exitCode: null, reason: 'WorkerHung', message } };
}

/** The known ends of the members that ran in the epoch of the record. */
export function evidenceOf(
  { epoch, cause, witness }: RestartRecord,
  facts: GroupFacts,
): GroupEvidence {
  if (cause === 'Resumed' || cause === 'Scaled') return { size: 0, members: [] };
  const { group, endsIn, answer } = facts;
  const read = answer({ kind: 'Suspects', epoch, pods: [] });
  const ran = group.stages.filter(({ released, isComplete }) => released >= epoch && !isComplete);
  const names = new Set(ran.map(({ name }) => name));
  const members = (endsIn?.(epoch) ?? []).filter(({ member }) => names.has(member.replicatedJob));
  return {
    size: slotCount(ran),
    members: members.map((each) => {
      const seen = each.member.pod === witness?.pod ? seenIn(witness) : undefined;
      return withReading(each, epoch, seen, read?.get(each.member.podUid));
    }),
  };
}

/** The witness of the epoch's end, as an answer: a kubelet that restarts the Pod soon hides it. */
function seenIn(witness: RestartWitness): SuspectAnswer {
  const { node, reason } = witness;
  return { witness, ...defined({ node }), ...(reason === 'NodeLost' ? { isNodeLost: true } : {}) };
}

function withReading(
  { member, end }: MemberEvidence,
  epoch: number,
  seen: SuspectAnswer | undefined,
  answer: SuspectAnswer | undefined,
): MemberEvidence {
  const node = member.node ?? answer?.node ?? seen?.node;
  const isNodeLost = (answer?.isNodeLost ?? seen?.isNodeLost) === true;
  return {
    member: { ...member, ...defined({ node }) },
    end:
      end.kind === 'Returned'
        ? endedContainer(end, epoch, seen?.witness ?? answer?.witness)
        : end.kind === 'Lost' && isNodeLost
          ? { ...end, isNodeLost }
          : end,
  };
}

/** The agent died with its worker, and the Pod shows how. */
function endedContainer(
  returned: Extract<MemberEnd, { readonly kind: 'Returned' }>,
  epoch: number,
  witness: RestartWitness | undefined,
): MemberEnd {
  if (witness === undefined || witness.exitCode === null || witness.exitCode === 0) return returned;
  const { exitCode, signal, reason } = witness;
  const end =
    signal === undefined
      ? ({ how: 'Exited', exit: { exitCode } } as const)
      : ({ how: 'Signaled', exit: { signal } } as const);
  const oom = reason === 'OOMKilled' ? { oom: true as const } : {};
  return { kind: 'Ended', epoch, atMs: returned.atMs, ...end, ...oom };
}

/**
 * The process of the Pod that ended first, or hung, if its agent knows that. What a witness shows is not
 * about a process that left with 0.
 */
function processIn(end: MemberEnd | undefined): Pick<Suspect, 'process' | 'rank'> {
  if (end?.kind !== 'Ended' || end.firstRank === 'Left') return {};
  const { local: process, rank } = end;
  return process === undefined ? {} : { process, ...defined({ rank }) };
}

function firstOf<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.find((value) => value !== undefined);
}

function lastWordsOf(pod: string, { members }: GroupEvidence): LastWords | undefined {
  const end = members.find(({ member }) => member.pod === pod)?.end;
  if (end?.kind !== 'Ended') return undefined;
  const { lastWords = '', saidMs: beforeEndMs } = end;
  const text = readable(lastWords);
  return text.trim() === '' ? undefined : { pod, text, ...defined({ beforeEndMs }) };
}
