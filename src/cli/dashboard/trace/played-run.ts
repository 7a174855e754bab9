/** The messages about a run as it was at one event of its trace, as a live page would get them. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { RunMessage } from '../../../dashboard/messages/run.ts';
import type { Told } from '../../../dashboard/messages/trace.ts';
import type { MemberReport } from '../../../jobset/hub/member-report.ts';
import type { JobSet } from '../../../jobset/jobset.ts';
import { claims } from '../../../jobset/membership.ts';
import { groupProgress } from '../../../jobset/progress/group-progress.ts';
import type { Progress } from '../../../jobset/progress/progress.ts';
import { podFacts } from '../../../jobset/roster/pod-facts.ts';
import { specView } from '../../../jobset/view/spec-view.ts';
import { statusView } from '../../../jobset/view/status-view.ts';
import { membersMessages } from '../run/member-changes.ts';
import { runView } from '../run/run-view.ts';
import type { Trace } from './parse-trace.ts';

/** With the time at which the progress was reported. */
type DatedTold = Told & { readonly atMs: number };

/** Where a run was after the states before an event. */
interface Moment {
  readonly jobSet: { readonly line: number; readonly object: Stored<JobSet> } | undefined;
  /** By UID. */
  readonly pods: ReadonlyMap<string, Stored<Pod>>;
  /** By UID of the Pod. */
  readonly told: ReadonlyMap<string, DatedTold>;
}

/** `index`: of the event, from 0. Undefined: there is no such event. */
export function runAt(trace: Trace, index: number): readonly RunMessage[] | undefined {
  const event = trace.events[index];
  if (event === undefined) return undefined;
  const moment = momentAfter(trace, event.states);
  if (moment.jobSet === undefined) return problems('The JobSet does not exist yet.');
  const { line } = moment.jobSet;
  try {
    return messagesOf(moment.jobSet.object, moment, trace.head.startMs, event.atMs);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return problems(`The JobSet of line ${line} of the trace cannot be shown: ${why}.`);
  }
}

function problems(problem: string): readonly RunMessage[] {
  return [{ type: 'Problems', problems: [problem] }];
}

function momentAfter({ states }: Trace, count: number): Moment {
  let jobSet: Moment['jobSet'];
  const pods = new Map<string, Stored<Pod>>();
  const told = new Map<string, DatedTold>();
  for (const { line, state } of states.slice(0, count)) {
    switch (state.kind) {
      case 'JobSet':
        jobSet = { line, object: state.jobSet };
        break;
      case 'Pod':
        pods.set(state.pod.metadata.uid, state.pod);
        break;
      case 'PodGone':
        pods.delete(state.uid);
        told.delete(state.uid);
        break;
      case 'Told':
        told.set(state.uid, withNews(told.get(state.uid), state));
    }
  }
  return { jobSet, pods, told };
}

function messagesOf(
  jobSet: Stored<JobSet>,
  { pods, told }: Moment,
  startMs: number,
  eventMs: number,
): readonly RunMessage[] {
  const atMs = Math.floor(startMs + eventMs);
  const members = [...pods.values()].filter((pod) => claims(pod, jobSet));
  const reports = members.map((pod) => reportOf(pod, told.get(pod.metadata.uid), eventMs));
  const view = statusView(jobSet, members, reports, undefined, atMs);
  const progress = groupProgress(reports.flatMap((report) => report.progress ?? []));
  const more = { actions: [], spec: specView(jobSet), clusterFlags: [], atMs };
  return [
    { type: 'Run', run: runView(jobSet, view, progress, more) },
    ...membersMessages(view.members.map((member) => ({ ...member, atMs }))),
  ];
}

/** As the hub reports it. */
function reportOf(pod: Stored<Pod>, told: DatedTold | undefined, eventMs: number): MemberReport {
  const written = podFacts(pod)?.epoch;
  const epoch = Math.max(told?.epoch ?? 0, written ?? 0);
  return {
    pod: pod.metadata.name,
    epoch: epoch === 0 ? null : epoch,
    channel: epoch === 0 ? null : epoch === written ? 'API' : 'Hub',
    ...(told?.progress && { progress: grown(told.progress, Math.floor(eventMs - told.atMs)) }),
  };
}

function withNews(before: DatedTold | undefined, { epoch, progress, atMs }: DatedTold): DatedTold {
  const news = defined({ epoch, progress });
  return { ...before, ...news, atMs: progress === undefined ? (before?.atMs ?? atMs) : atMs };
}

/** What counts to the time of a report counts on. */
function grown(progress: Progress, byMs: number): Progress {
  const { firstStepMs, checkpointMs, lag, rest } = progress;
  const sum = (ms: number | undefined) => (ms === undefined ? undefined : ms + byMs);
  const later = <T extends { readonly silentMs: number }>(told: T): T => ({
    ...told,
    silentMs: told.silentMs + byMs,
  });
  const times = { firstStepMs: sum(firstStepMs), checkpointMs: sum(checkpointMs) };
  const ranks = { lag: lag?.map(later), rest: rest && later(rest) };
  return { ...later(progress), ...defined({ ...times, ...ranks }) };
}
