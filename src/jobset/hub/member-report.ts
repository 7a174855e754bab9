/** The hub's report about members of a JobSet. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedJson } from '@lockstep/kube/json/parsed-json.ts';
import { type MemberSteps, parseMemberSteps } from '../progress/group-progress.ts';
import { parseShownEnd, type ShownEnd } from '../worker-end/shown-end.ts';
import { isEpoch } from '../worker-end/worker-end.ts';

/** The hub's report about one member, for a client with a token of any member. */
export interface MemberReport {
  readonly pod: string;
  /** The newest epoch that the Pod announced, over either channel; null: none yet. */
  readonly epoch: number | null;
  /** `Hub`: the agent has a stream. `API`: `epoch` is an annotation. Null between two streams. */
  readonly channel: 'Hub' | 'API' | null;
  /** How the worker of an earlier epoch ended, if the agent reported that. */
  readonly cause?: ShownEnd;
  /**
   * What the worker, or the last one while none runs, has reported; absent: it reported nothing.
   * `silentMs` counts to the time of this report.
   */
  readonly progress?: MemberSteps;
}

/** Undefined for an invalid text: a Pod answers for its agent, and may answer anything. */
export function parseMemberReports(text: string): readonly MemberReport[] | undefined {
  const list = parsedJson(text);
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
  const { pod, epoch, channel } = report;
  const progress = isJsonObject(report['progress'])
    ? parseMemberSteps(report['progress'])
    : undefined;
  const cause = parseShownEnd(report['cause']);
  if (typeof pod !== 'string' || (epoch !== null && !isEpoch(epoch))) return undefined;
  if (channel !== 'Hub' && channel !== 'API' && channel !== null) return undefined;
  if (report['cause'] !== undefined && cause === undefined) return undefined;
  return { pod, epoch, channel, ...defined({ cause, progress }) };
}
