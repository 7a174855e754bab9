/**
 * The hub's report about all groups of a namespace, for lists: enough for the words of their states,
 * without a page of members for each.
 */

import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedJson } from '@lockstep/kube/json/parsed-json.ts';
import type { JobSet } from '../jobset.ts';
import { isMilliseconds } from '../reported-number.ts';
import { epochsOf } from '../status/epochs.ts';
import { isEpoch } from '../worker-end/worker-end.ts';
import type { Seen } from './shown-state.ts';
import type { Silence } from './silence.ts';

export interface HeardGroup {
  /** UID of the JobSet. */
  readonly jobSet: string;
  /** The current epoch, to which the rest belongs. */
  readonly epoch: number;
  /** Members that have announced it. */
  readonly announced: number;
  /** Absent: the group is not silent. */
  readonly silence?: Silence | undefined;
}

/** The report as the hub sends it. Clocks differ, so it says for how long a group is silent. */
export interface GroupReport extends Omit<HeardGroup, 'silence'> {
  readonly silence?: Omit<Silence, 'sinceMs'> & { readonly forMs: number };
}

export function groupReport({ silence, ...group }: HeardGroup, nowMs: number): GroupReport {
  if (silence === undefined) return group;
  const { sinceMs, ...rest } = silence;
  return { ...group, silence: { ...rest, forMs: Math.max(0, nowMs - sinceMs) } };
}

/** The report about the JobSet; empty if it belongs to another epoch. */
export function seenOf(
  { status = {} }: JobSet,
  heard: HeardGroup | undefined,
): Pick<Seen, 'announced' | 'silence'> {
  if (heard === undefined || heard.epoch !== epochsOf(status).deprecated + 1) return {};
  const { announced, silence } = heard;
  return { announced, silence };
}

/**
 * Reads reports that arrive at `nowMs`. Undefined for an invalid text: a Pod answers for its agent,
 * and may send anything.
 */
export function parseGroupReports(text: string, nowMs: number): readonly HeardGroup[] | undefined {
  const list = parsedJson(text);
  if (!Array.isArray(list)) return undefined;
  const reports = (list as readonly unknown[]).map((one) =>
    isJsonObject(one) ? parsedReport(one, nowMs) : undefined,
  );
  return reports.every((one) => one !== undefined) ? reports : undefined;
}

function parsedReport(report: JsonObject, nowMs: number): HeardGroup | undefined {
  const { jobSet, epoch, announced, silence } = report;
  if (typeof jobSet !== 'string' || !isEpoch(epoch) || !isMilliseconds(announced)) return undefined;
  if (silence === undefined) return { jobSet, epoch, announced };
  const { forMs, limitMs, isLong, isSinceRelease } = isJsonObject(silence) ? silence : {};
  if (!isMilliseconds(forMs) || typeof isLong !== 'boolean') return undefined;
  if (limitMs !== undefined && !isMilliseconds(limitMs)) return undefined;
  return {
    jobSet,
    epoch,
    announced,
    silence: {
      // Rounded, because each change of the time sends the list again.
      sinceMs: Math.round((nowMs - forMs) / 1000) * 1000,
      isLong,
      ...(limitMs === undefined ? {} : { limitMs }),
      ...(isSinceRelease === true ? { isSinceRelease } : {}),
    },
  };
}
