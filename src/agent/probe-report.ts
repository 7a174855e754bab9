/**
 * The report of `lockstep-agent --probe` from inside a Pod: one line of JSON. A reader must not trust
 * it, because any program can print such a line.
 */

import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';

/** The result for one server: it answered, or why it did not. */
export type Reached =
  | {
      readonly status: number;
      /** How far its clock is ahead of the node's, if it sent the time. */
      readonly aheadMs?: number;
      readonly errorMs?: number;
    }
  | { readonly error: string; readonly code?: string };

export interface ProbeReport {
  readonly version: string;
  /** Absent: the Pod has no address of a hub. */
  readonly hub?: Reached;
  readonly apiServer: Reached;
}

const MARK = 'lockstepProbe';
const MAX_TEXT = 500;

export function probeLine(report: ProbeReport): string {
  return JSON.stringify({ [MARK]: report });
}

/** The report in the output of a Pod; undefined if there is none, or it is malformed. */
export function findProbeReport(output: string): ProbeReport | undefined {
  for (const line of output.split('\n')) {
    if (!line.startsWith(`{"${MARK}":`)) continue;
    return reportIn(parsedObject(line)?.[MARK]);
  }
  return undefined;
}

function reportIn(value: unknown): ProbeReport | undefined {
  if (!isJsonObject(value)) return undefined;
  const { version, hub, apiServer } = value;
  const api = reachedIn(apiServer);
  const reachedHub = hub === undefined ? undefined : reachedIn(hub);
  if (typeof version !== 'string' || api === undefined) return undefined;
  if (hub !== undefined && reachedHub === undefined) return undefined;
  const base = { version: version.slice(0, MAX_TEXT), apiServer: api };
  return reachedHub === undefined ? base : { ...base, hub: reachedHub };
}

function reachedIn(value: unknown): Reached | undefined {
  if (!isJsonObject(value)) return undefined;
  const { status, aheadMs, errorMs, error, code } = value;
  if (typeof error === 'string') {
    const cut = { error: error.slice(0, MAX_TEXT) };
    return typeof code === 'string' ? { ...cut, code: code.slice(0, MAX_TEXT) } : cut;
  }
  if (!isNumber(status)) return undefined;
  return isNumber(aheadMs) && isNumber(errorMs) ? { status, aheadMs, errorMs } : { status };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
