/** How a worker ended, as its agent reports it. */

/** Exactly one of the two. `signal` is a name such as `SIGKILL`. */
export type Exit = { readonly exitCode: number } | { readonly signal: string };

/** An end that a supervisor reports: `epoch`, and either `exitCode` or `signal`. */
export function reportedEnd(
  report: Readonly<Record<string, unknown>>,
): { readonly epoch: number; readonly end: Exit } | undefined {
  const { epoch } = report;
  const end = parseEnd(report);
  return end !== undefined && isEpoch(epoch) ? { epoch, end } : undefined;
}

/** Undefined unless the object has exactly one of `exitCode` and `signal`. */
export function parseEnd({
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

export function isExitCode(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}

/** A name such as `SIGKILL` or `SIGRTMIN+1`. */
export function isSignal(value: unknown): value is string {
  return typeof value === 'string' && /^SIG[A-Z0-9+]{1,16}$/.test(value);
}
