import { type PodFacts, podFacts } from '../../jobset/group/pod-facts.ts';
import { describeWitness } from '../../jobset/group/witness.ts';
import type { MemberReport } from '../../jobset/hub/member-report.ts';
import type { JobSet, RestartRecord } from '../../jobset/jobset.ts';
import { REPLICATED_JOB_NAME } from '../../jobset/names.ts';
import type { Stored } from '../../kube/meta.ts';
import type { Pod } from '../../kube/pod.ts';

/**
 * A JobSet and its members for people: where each is, which epoch it has announced over which channel,
 * and what it said last of its worker's end. `reports` is what the hub knows; undefined: nobody could ask.
 */
export function memberTable(
  jobSet: Stored<JobSet>,
  pods: readonly Stored<Pod>[],
  reports: readonly MemberReport[] | undefined,
): string {
  const byPod = new Map(reports?.map((report) => [report.pod, report]));
  const rows = pods
    .map((pod) => memberRow(pod, byPod.get(pod.metadata.name)))
    .sort((a, b) => a.order.localeCompare(b.order, 'en', { numeric: true }))
    .map(({ cells }) => cells);
  return `${summary(jobSet)}\n\n${columns([HEADINGS, ...rows])}`;
}

const HEADINGS = ['MEMBER', 'POD', 'NODE', 'PHASE', 'EPOCH', 'CHANNEL', 'LAST CAUSE'] as const;
const NOTHING = '-';

function summary({ metadata, spec, status = {} }: Stored<JobSet>): string {
  const { deprecatedEpoch = 0, syncedEpoch = 0, inPlaceRestarts = 0 } = status;
  const state =
    status.terminalState ??
    (syncedEpoch > deprecatedEpoch ? 'released' : 'waits for its members at the barrier');
  const lines = [
    `JobSet ${metadata.namespace}/${metadata.name}: epoch ${deprecatedEpoch + 1}, ${state}; ` +
      `${inPlaceRestarts} restarts in place, ${status.restarts ?? 0} of all Jobs, ` +
      `at most ${spec.failurePolicy?.maxRestarts ?? 0} that count`,
    ...(status.restartHistory ?? []).slice(0, SHOWN_RESTARTS).map(restartLine),
  ];
  return lines.join('\n');
}

const SHOWN_RESTARTS = 3;

function restartLine({ epoch, time, cause, witness, phases }: RestartRecord): string {
  const who = witness === undefined ? '' : `, ${describeWitness(witness)}`;
  const announceMs = phases?.announceMs;
  const took = announceMs === undefined ? '' : `; all had announced after ${announceMs} ms`;
  return `  ${time} epoch ${epoch} ended: ${cause}${who}${took}`;
}

interface Row {
  readonly order: string;
  readonly cells: readonly string[];
}

function memberRow(pod: Stored<Pod>, report: MemberReport | undefined): Row {
  const { metadata, spec, status } = pod;
  const facts = podFacts(pod);
  const stage = metadata.labels?.[REPLICATED_JOB_NAME] ?? '';
  const member = `${facts?.jobName ?? stage}/${facts?.slot ?? NOTHING}`;
  const epoch = report?.epoch ?? facts?.epoch;
  const isEnding = metadata.deletionTimestamp !== undefined;
  const phase = isEnding ? 'Terminating' : (status?.phase ?? NOTHING);
  const cells = [
    member,
    metadata.name,
    spec.nodeName ?? NOTHING,
    phase,
    epoch === undefined ? NOTHING : String(epoch),
    report?.channel ?? (facts?.epoch === undefined ? NOTHING : 'API'),
    causeOf(report, facts),
  ];
  return { order: `${stage}/${member}`, cells };
}

function causeOf(report: MemberReport | undefined, facts: PodFacts | undefined): string {
  const notice = facts?.notice;
  const written = notice?.end === undefined ? undefined : { epoch: notice.epoch, end: notice.end };
  const cause = report?.cause ?? written;
  if (cause === undefined) return NOTHING;
  const { epoch, end } = cause;
  const how = 'signal' in end ? `killed by ${end.signal}` : `exited with ${end.exitCode}`;
  return `${how} in epoch ${epoch}`;
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = HEADINGS.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}
