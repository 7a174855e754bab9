/** What of a run is looked at: it stands in the address, so that it can be kept, sent and gone back to. */
import { ALL, type Window } from './timeline/window.ts';

export interface RunLook {
  /** The Pod that is open; null: none. */
  readonly member: string | null;
  /** The local rank of its process whose log is open; null: the log of the Pod. */
  readonly process: number | null;
  /** The epoch whose end is open; null: the newest. */
  readonly restart: number | null;
  /** What the timeline shows. */
  readonly window: Window;
}

export const NO_LOOK: RunLook = { member: null, process: null, restart: null, window: ALL };

/** What may be the name of a Pod. */
const POD = /^[a-z0-9][-.a-z0-9]{0,252}$/;
/** Unix milliseconds up to the year 5138, and lengths of time. */
const MILLISECONDS = /^\d{1,14}$/;
const LOCAL_RANK = /^\d{1,2}$/;
const EPOCH = /^[1-9]\d{0,9}$/;

/** What an address does not say, or says wrongly, is as it is without. */
export function lookOf(text: string): RunLook {
  const given = new URLSearchParams(text);
  const member = given.get('member') ?? '';
  return {
    member: POD.test(member) ? member : null,
    process: numberIn(given, 'process', LOCAL_RANK),
    restart: numberIn(given, 'restart', EPOCH),
    window: windowIn(given),
  };
}

/** Without a question mark; empty: nothing is chosen. */
export function textOfLook({ member, process, restart, window }: RunLook): string {
  const given = new URLSearchParams();
  if (member !== null) given.set('member', member);
  if (process !== null) given.set('process', `${process}`);
  if (restart !== null) given.set('restart', `${restart}`);
  if (window.kind === 'Last') given.set('last', whole(window.ms));
  if (window.kind === 'Fixed') {
    given.set('from', whole(window.span.fromMs));
    given.set('to', whole(window.span.toMs));
  }
  return given.toString();
}

function windowIn(given: URLSearchParams): Window {
  const ms = numberIn(given, 'last', MILLISECONDS);
  if (ms !== null) return ms > 0 ? { kind: 'Last', ms } : ALL;
  const fromMs = numberIn(given, 'from', MILLISECONDS);
  const toMs = numberIn(given, 'to', MILLISECONDS);
  if (fromMs === null || toMs === null || fromMs >= toMs) return ALL;
  return { kind: 'Fixed', span: { fromMs, toMs } };
}

function numberIn(given: URLSearchParams, name: string, form: RegExp): number | null {
  const text = given.get(name) ?? '';
  return form.test(text) ? Number(text) : null;
}

function whole(ms: number): string {
  return `${Math.round(ms)}`;
}
