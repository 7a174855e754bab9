/** The hub's report about members of a JobSet. */
import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { hangInWords } from '../culprits/end-in-words.ts';
import { type MemberSteps, parseMemberSteps } from '../progress/group-progress.ts';
import type { Notice } from '../worker-end/notice.ts';
import { type Exit, isEpoch, reportedEnd } from '../worker-end/worker-end.ts';

/** The hub's report about one member, for a client with a token of any member. */
export interface MemberReport {
  readonly pod: string;
  /** The newest epoch that it announced, over either channel; null: none yet. */
  readonly epoch: number | null;
  /** `Hub` while it has a stream, `API` if its epoch is an annotation; null between two streams. */
  readonly channel: 'Hub' | 'API' | null;
  /**
   * How its worker of an earlier epoch ended, if its agent said so; `hung`: in words, if it was
   * killed because it hung.
   */
  readonly cause?: { readonly epoch: number; readonly end: Exit; readonly hung?: string };
  /**
   * What its worker reported, or the last one while none runs; absent: nothing. `silentMs` counts
   * to the time of this report.
   */
  readonly progress?: MemberSteps;
}

/** The member `cause` of a report, from what the agent said last. */
export function memberCause(notice: Notice | undefined): Pick<MemberReport, 'cause'> {
  if (notice?.end === undefined) return {};
  const { epoch, end, ended } = notice;
  return { cause: { epoch, end, ...defined({ hung: hangInWords(ended?.evidence) }) } };
}

/** Undefined for an invalid text: a Pod answers for its agent, and may answer anything. */
export function parseMemberReports(text: string): readonly MemberReport[] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  const reports: MemberReport[] = [];
  for (const one of list as readonly unknown[]) {
    const report = isJsonObject(one) ? memberReport(one) : undefined;
    if (report === undefined) return undefined;
    reports.push(report);
  }
  return reports;
}

function memberReport(report: JsonObject): MemberReport | undefined {
  const { pod, epoch, channel, cause } = report;
  const progress = isJsonObject(report['progress'])
    ? parseMemberSteps(report['progress'])
    : undefined;
  const known = defined({ progress });
  if (typeof pod !== 'string' || (epoch !== null && !isEpoch(epoch))) return undefined;
  if (channel !== 'Hub' && channel !== 'API' && channel !== null) return undefined;
  if (cause === undefined) return { pod, epoch, channel, ...known };
  const { epoch: ended, end, hung } = isJsonObject(cause) ? cause : {};
  const told = isJsonObject(end) ? reportedEnd({ ...end, epoch: ended }) : undefined;
  if (told === undefined) return undefined;
  const how = typeof hung === 'string' ? { hung: hung.slice(0, MAX_HUNG_LENGTH) } : {};
  return { pod, epoch, channel, cause: { ...told, ...how }, ...known };
}

/** A time and a step take less. */
const MAX_HUNG_LENGTH = 100;
