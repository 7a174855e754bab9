/** How a worker ended, as its agent reports it. */
import { defined } from '@lockstep/kube/json/defined.ts';

/** How the worker of one epoch ended. From all ends, the operator finds the worker that failed first. */
export interface WorkerEnd extends Signs {
  /** The epoch in which the worker ran. */
  readonly epoch: number;
  /** `Unknown`: no more than the exit is known. Then there are no signs, and `atMs` means nothing. */
  readonly how: HowEnded | 'Unknown';
  readonly exit?: Exit;
  /**
   * Monotonic, by the clock of the process that holds it. In a message, 0 is the time at which that
   * is sent: `shifted` leads from one clock to the other.
   */
  readonly atMs: number;
  /** The agent announces the next epoch because of this end. */
  readonly restartsGroup?: true;
}

/** Exactly one of the two. `signal` is a name such as `SIGKILL`. */
export type Exit = { readonly exitCode: number } | { readonly signal: string };

/**
 * `Exited` and `Signaled`: by itself. `Stopped`: it was told to, and obeyed. `Killed`: it was told
 * to, and its grace ran out. `Hung`: it made no progress for too long, and was killed for that.
 */
export type HowEnded = (typeof HOW_ENDED)[number];
export const HOW_ENDED = ['Exited', 'Signaled', 'Stopped', 'Killed', 'Hung'] as const;

export const FIRST_RANKS = ['Raised', 'Killed', 'Silent', 'Left', 'Open', 'None'] as const;

/** What a supervisor saw of a worker and of its end. */
export interface Signs {
  /** The kernel ended a process of the container because memory ran out. */
  readonly oom?: true;
  /** Milliseconds from its last report to its end; absent: it never reported. */
  readonly silentMs?: number;
  /** The longest silence between two of its steps, in milliseconds; absent before the second. */
  readonly longestMs?: number;
  readonly step?: number;
  /** It was in a phase with a time-out of its own that still held. */
  readonly inPhase?: true;
  /**
   * States of its processes just before it was stopped, as letters of `/proc/PID/stat`: `T` and `t`
   * (stopped since its last step), `D` (waits for a disk, in two looks 5 s apart).
   */
  readonly states?: string;
  /** Milliseconds to the end from the first sight of the process that was stopped last. */
  readonly stoppedMs?: number;
  /** CPU time of its processes in the last 5 s, in milliseconds. */
  readonly cpuMs?: number;
  /** How long its busiest thread ran or waited for a CPU in the last 5 s, in milliseconds. */
  readonly runnableMs?: number;
  /** Its first process only waited for others, which did the work. */
  readonly launcher?: true;
  /** The line that a preflight printed last, or why else it did not pass; 1 to 200 bytes in JSON. */
  readonly unfit?: string;
  /** The local rank of the process that ended first, hung, or `Left`; absent: not known. */
  readonly local?: number;
  /** Its rank in the whole group, as it says itself. */
  readonly rank?: number;
  /**
   * Which of its ranks failed first, as its agent saw them. Below a launcher: `Raised`: one raised an
   * exception. `Killed`: one died of a signal such as SIGKILL. `Silent`: one ended without a word, maybe
   * with 0. `Open`: one of several. `None`: none before the launcher. Absent: it did not see all ranks.
   * Where the agent started the ranks, only `Left`: one exited with 0 while the others had work.
   */
  readonly firstRank?: (typeof FIRST_RANKS)[number];
  /** The place of the program when it hung, as a user's command printed it; 1 to 128 bytes in JSON. */
  readonly where?: string;
  /**
   * Milliseconds from its failure to its end. With `firstRank`, this is the earliest time at which the
   * first of its ranks may have failed. Else it is the time of the first traceback that it printed,
   * if it made no step after that, and was not told to stop before.
   */
  readonly failedMs?: number;
  /** Milliseconds from its last words to its end, where these are from its standard error. */
  readonly saidMs?: number;
  /** The last words of the worker; at most 512 bytes in JSON. */
  readonly lastWords?: string;
}

/** The end by a clock that is ahead by `byMs`. */
export function shifted(end: WorkerEnd, byMs: number): WorkerEnd {
  return { ...end, atMs: end.atMs + byMs };
}

/** The end as far as its exit says it. */
export function withoutSigns({ epoch, exit, restartsGroup }: WorkerEnd): WorkerEnd {
  return { epoch, how: 'Unknown', atMs: 0, ...defined({ exit, restartsGroup }) };
}

export function withoutWords(end: WorkerEnd): WorkerEnd {
  const { lastWords: _, ...rest } = end;
  return rest;
}

/** Whether the worker ended before it was told to, and did not hang. */
export function isByItself({ how }: Pick<WorkerEnd, 'how'>): boolean {
  return how === 'Exited' || how === 'Signaled';
}

/** Whether a rank of it failed before its launcher ended, or was told to stop. */
export function hasFailedRank({ firstRank }: Pick<WorkerEnd, 'firstRank'>): boolean {
  return firstRank !== undefined && firstRank !== 'None';
}

/** Whether the worker did its work to the end. */
export function isSuccess({ how, exit }: Pick<WorkerEnd, 'how' | 'exit'>): boolean {
  return how === 'Exited' && exitCodeIn(exit) === 0;
}

/** Undefined if a signal ended the worker, or its exit is not known. */
export function exitCodeIn(exit: Exit | undefined): number | undefined {
  return exit !== undefined && 'exitCode' in exit ? exit.exitCode : undefined;
}

/** Undefined unless the object has exactly one of `exitCode` and `signal`. */
export function parseExit({
  exitCode,
  signal,
}: Readonly<Record<string, unknown>>): Exit | undefined {
  if (isSignal(signal) && exitCode === undefined) return { signal };
  if (isExitCode(exitCode) && signal === undefined) return { exitCode };
  return undefined;
}

/** The highest epoch that fits the API's int32. */
export const MAX_EPOCH = 2_147_483_647;

export function isEpoch(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_EPOCH;
}

function isExitCode(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}

/** A name such as `SIGKILL` or `SIGRTMIN+1`. */
function isSignal(value: unknown): value is string {
  return typeof value === 'string' && /^SIG[A-Z0-9+]{1,16}$/.test(value);
}
