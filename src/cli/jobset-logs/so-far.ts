/** Opens the logs of members, and prints what there is of them, in the order of time. */
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import type { NamedJobSet } from '../named-jobset.ts';
import { tell } from '../tell.ts';
import {
  bytesOf,
  countedBy,
  type LabelledLine,
  printed,
  type ShownLines,
  shownLines,
} from './line-printer.ts';
import { containerOf, type LogMember, whyNoPrefix } from './log-members.ts';
import { MemberLog } from './member-log.ts';
import { mergeByTime, sortedByTime } from './merge.ts';
import type { LogsOptions } from './options.ts';

/** What the user asked for, and how it is read and printed. */
export interface LogsJob extends NamedJobSet {
  readonly options: LogsOptions;
  readonly shown: ShownLines;
  readonly isWanted: (member: LogMember) => boolean;
}

/** Logs that are read at a time; short requests have more connections than that. */
const MAX_CONCURRENT_LOGS = 48;
/** For the logs of more members than that, which have to be put in order as a whole. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

export interface OpenLog {
  readonly member: LogMember;
  readonly log: MemberLog;
}

export function memberLog(
  { client, options, shown, signal }: LogsJob,
  { pod, label }: LogMember,
): MemberLog {
  const { container, tailLines, sinceSeconds } = options;
  const { window } = shown;
  return new MemberLog({
    client,
    clock: nodeClock,
    pod,
    container: containerOf(pod, container),
    first: {
      ...(tailLines === undefined || window !== undefined ? {} : { tailLines }),
      ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
      ...(window === undefined ? {} : { sinceTime: wholeSecond(window.fromMs - CLOCK_SKEW_MS) }),
    },
    counts: countedBy(shown),
    onProblem: (message) => {
      tell(`[${label}] its log cannot be read now: ${message}`);
    },
    signal,
  });
}

/** How far the clocks of operator and node may differ before an agent's own lines are missed. */
const CLOCK_SKEW_MS = 60_000;

function wholeSecond(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -'.000Z'.length)}Z`;
}

/** Throws if lines of one process are wanted of a Pod whose lines do not say which process wrote them. */
export function expectPrefix({ shown }: LogsJob, { member }: OpenLog): void {
  const why = shown.process === undefined ? undefined : whyNoPrefix(member.pod);
  if (why !== undefined) throw new Error(`--process: ${why}`);
}

/**
 * Prints what there is now, and resolves with the number of lines. Few logs are merged as they are
 * read; many are read one after another.
 */
export async function printSoFar(job: LogsJob, logs: readonly OpenLog[]): Promise<number> {
  const { shown, signal } = job;
  for (const each of logs) expectPrefix(job, each);
  let count = 0;
  const sources = logs.map(({ member, log }) => shownLines(log.soFar(), member.label, shown));
  if (sources.length <= MAX_CONCURRENT_LOGS) {
    for await (const line of mergeByTime(sources)) {
      await write(job, [line]);
      count++;
    }
    return count;
  }
  const lines: LabelledLine[] = [];
  let held = 0;
  await forEachConcurrently(sources, MAX_CONCURRENT_LOGS, async (source) => {
    for await (const line of source) {
      signal.throwIfAborted();
      held += bytesOf(line);
      if (held > MAX_HELD_BYTES) throw new Error(TOO_MUCH);
      lines.push(line);
    }
  });
  for (const line of sortedByTime(lines)) await write(job, [line]);
  return lines.length;
}

const TOO_MUCH = `the logs of more than ${MAX_CONCURRENT_LOGS} members are put in order in memory, and these have more than ${MAX_HELD_BYTES / 1024 / 1024} MiB: take fewer lines with --tail or --since, or one member with --rank`;

/** Waits for a slow reader of the output. */
export async function write(
  { shown, signal }: LogsJob,
  lines: readonly LabelledLine[],
): Promise<void> {
  for (const line of lines) {
    if (process.stdout.write(printed(line, shown.withTimestamps))) continue;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        process.stdout.off('drain', go);
        signal.removeEventListener('abort', go);
        resolve();
      };
      process.stdout.on('drain', go);
      signal.addEventListener('abort', go);
    });
    signal.throwIfAborted();
  }
}
