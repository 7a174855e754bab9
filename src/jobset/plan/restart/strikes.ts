/**
 * Which members have to leave their nodes: a Pod that was the first to fail too often, and a Pod whose
 * preflight did not pass (`docs/bad-nodes.md`). Failures are counted by the Pod's name, which is never
 * used again. So a new Pod starts with none, and no failure counts for two replacements.
 */
import { asked } from '../../annotations/table.ts';
import { readable } from '../../culprits/readable.ts';
import { membersAtBarrier } from '../../epoch/in-place-restart.ts';
import { isOpen } from '../../epoch/restart-history.ts';
import { avoidsNodes } from '../../injection/node-avoidance.ts';
import type { AvoidedNode, RestartRecord, Suspect } from '../../jobset-status.ts';
import { PREFLIGHT } from '../../names.ts';
import {
  type ReplacementCause,
  replaceAfter,
  toleratesReplacement,
} from '../../policies/ladder-settings.ts';
import type { Member } from '../../roster/group-evidence.ts';
import type { PodFacts } from '../../roster/pod-facts.ts';
import { workerInWords } from '../../roster/worker-name.ts';
import type { GroupFacts } from '../facts.ts';
import { evidenceOf } from '../records/records.ts';

/** A member that has to leave its node. */
export interface Leaving extends Omit<AvoidedNode, 'time'> {
  readonly member: PodFacts;
  readonly cause: ReplacementCause;
}

/**
 * More nodes seldom break at once, but the command of a preflight may be wrong, and each replacement
 * takes time.
 */
export const MAX_REPLACED_PER_EPOCH = 4;

/** Sorted by name of the Pod. `history` has the suspects of the newest record. */
export function leavingMembers(
  facts: GroupFacts,
  history: readonly RestartRecord[],
): readonly Leaving[] {
  const struck = strikesOf(facts, history);
  const unfit = unfitMembers(facts, history[0]);
  if (struck.size === 0 && unfit.size === 0) return [];
  const leaving: Leaving[] = [];
  for (const member of replaceable(facts)) {
    const { name: pod } = member;
    const { node, ...known } = unfit.get(member.uid) ?? struck.get(pod) ?? {};
    // Nothing could say to new Pods which node to avoid.
    if (node === undefined || !('cause' in known)) continue;
    leaving.push({ ...known, member, pod, node });
  }
  return leaving.toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
}

/** Members whose preflight did not pass, by UID of the Pod. */
export function unfitMembers(
  facts: GroupFacts,
  newest: RestartRecord | undefined,
): ReadonlyMap<string, Blamed> {
  const found = new Map<string, Blamed>();
  if (asked(facts.jobSet.metadata.annotations, PREFLIGHT) === undefined) return found;
  if (newest === undefined || !isOpen(newest)) return found;
  for (const { member, end } of evidenceOf(newest, facts).members) {
    if (end.kind !== 'Ended' || end.unfit === undefined) continue;
    const last = readable(end.unfit).replaceAll(/\s+/g, ' ').trim();
    const reason = `its preflight did not pass${last === '' ? '' : `: ${last}`}`;
    found.set(member.podUid, { ...blamed(member), cause: 'Unfit', reason });
  }
  return found;
}

type Blamed = Omit<Leaving, 'member' | 'node' | 'pod'> & { readonly node?: string };

function blamed(member: Member): Pick<Blamed, 'worker' | 'node'> {
  const { node } = member;
  return { worker: workerInWords(member), ...(node === undefined ? {} : { node }) };
}

/** Members with enough strikes, by Pod name. */
function strikesOf(
  { jobSet, nowMs }: GroupFacts,
  history: readonly RestartRecord[],
): ReadonlyMap<string, Blamed> {
  const limit = replaceAfter(jobSet.metadata.annotations);
  const found = new Map<string, Blamed>();
  if (limit === undefined) return found;
  const byPod = new Map<string, Suspect[]>();
  for (const { time, cause, suspects: [first] = [] } of history) {
    const isRecent = Date.parse(time) >= nowMs - limit.withinMs;
    const isFailure = cause !== 'Resumed' && cause !== 'Scaled';
    if (!isRecent || !isFailure || first?.confidence !== 'Certain') continue;
    const strikes = byPod.get(first.pod);
    if (strikes === undefined) byPod.set(first.pod, [first]);
    else strikes.push(first);
  }
  for (const [pod, strikes] of byPod) {
    const [newest] = strikes;
    if (newest === undefined || strikes.length < limit.strikes) continue;
    const node = strikes.find((strike) => strike.node !== undefined)?.node;
    const times = strikes.length === 1 ? 'once' : `${strikes.length} times`;
    const reason = `it was the first to fail ${times}, last because it ${newest.why}`;
    const known = { worker: newest.worker, cause: 'Culprit', reason } as const;
    found.set(pod, node === undefined ? known : { ...known, node });
  }
  return found;
}

/** Pods at the barrier whose Jobs make others in their place, and keep them from avoided nodes. */
function* replaceable({ group }: GroupFacts): Iterable<PodFacts> {
  for (const { job, pod } of membersAtBarrier(group)) {
    const { spec } = job;
    const { labels } = spec.template.metadata ?? {};
    if (avoidsNodes(labels) && toleratesReplacement(spec)) yield pod;
  }
}
