/**
 * The value of the Pod annotation `lockstep/notice`: what an agent reports about the end of its
 * worker before the Pod's status shows it. A sidecar that is told to stop knows only its epoch and
 * writes it as a plain number. A supervisor has seen its worker end and writes JSON
 * (`docs/design/member-hazards.md#a-stop-looks-like-a-failure`).
 */
export interface Notice {
  /** The epoch in which the worker ran. */
  readonly epoch: number;
  /** How it ended; absent if the agent cannot know (sidecar). */
  readonly end?: WorkerEnd;
}

/** Exactly one of the two. `signal` is a name such as `SIGKILL`. */
export type WorkerEnd = { readonly exitCode: number } | { readonly signal: string };

export function formatNotice(notice: Notice): string {
  return notice.end === undefined
    ? String(notice.epoch)
    : JSON.stringify({ epoch: notice.epoch, ...notice.end });
}

const MAX_EPOCH = 2147483647;
/** Far more than any notice needs; a longer text is not parsed at all. */
const NOTICE_LENGTH_LIMIT = 1024;

/** Undefined for an invalid notice: it is only a hint. */
export function parseNotice(text: string): Notice | undefined {
  if (/^[0-9]{1,10}$/.test(text)) {
    const epoch = Number(text);
    return isEpoch(epoch) ? { epoch } : undefined;
  }
  if (text.length > NOTICE_LENGTH_LIMIT) return undefined;
  const parsed = parseObject(text);
  return parsed === undefined ? undefined : reportedEnd(parsed);
}

/** An end that a supervisor reports: `epoch`, and either `exitCode` or `signal`. */
export function reportedEnd(
  report: Readonly<Record<string, unknown>>,
): { readonly epoch: number; readonly end: WorkerEnd } | undefined {
  const { epoch, exitCode, signal } = report;
  if (!isEpoch(epoch)) return undefined;
  if (isSignal(signal) && exitCode === undefined) return { epoch, end: { signal } };
  if (isExitCode(exitCode) && signal === undefined) return { epoch, end: { exitCode } };
  return undefined;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    ? { ...parsed }
    : undefined;
}

export function isEpoch(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_EPOCH;
}

export function isExitCode(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}

/** A name such as `SIGKILL` or `SIGRTMIN+1`. */
export function isSignal(value: unknown): value is string {
  return typeof value === 'string' && /^SIG[A-Z0-9+]{1,16}$/.test(value);
}
