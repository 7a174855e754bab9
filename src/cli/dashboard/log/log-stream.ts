/** Streams the log of one member to a page: its end, and what follows through restarts. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import { pause } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { isReason } from '@lockstep/kube/status.ts';
import {
  CUT_MARK,
  FIRST_LINES,
  type LogLine,
  type LogMessage,
  MAX_LINE_LENGTH,
} from '../../../dashboard/messages/log.ts';
import { JOBSETS, type JobSet } from '../../../jobset/jobset.ts';
import { claims } from '../../../jobset/membership.ts';
import { countedBy, type ShownLines, shownLines } from '../../jobset-logs/line-printer.ts';
import { containerOf, rankInLog } from '../../jobset-logs/log-members.ts';
import { MemberLog } from '../../jobset-logs/member-log.ts';
import type { TimedLine } from '../../jobset-logs/timed-lines.ts';
import { type EventStream, eventOf } from '../streams/event-stream.ts';
import type { Surroundings } from '../streams/followed.ts';

export interface LogTarget {
  readonly namespace: string;
  readonly name: string;
  readonly pod: string;
  /** The local rank of the only process whose lines are shown; undefined: of all. */
  readonly process: number | undefined;
}

/** Lines that come this close together are sent together. */
const BATCH_MS = 50;
const MAX_BATCH_LINES = 500;
const MAX_BATCH_LENGTH = 1024 * 1024;

/** Ends when the signal aborts. Failures are told to the page. */
export async function streamLog(
  surroundings: Pick<Surroundings, 'client' | 'clock' | 'random'>,
  target: LogTarget,
  stream: EventStream,
  signal: AbortSignal,
): Promise<void> {
  const tell = (message: LogMessage): void => stream.send(eventOf(message));
  try {
    const found = await memberPod(surroundings, target, signal);
    if (typeof found === 'string') tell({ type: 'Problem', problem: found });
    else await follow(surroundings, found.pod, shownOf(found, target, tell), stream, signal);
    if (!signal.aborted) tell({ type: 'End' });
  } catch (error) {
    if (signal.aborted) return;
    const why = error instanceof Error ? error.message : String(error);
    tell({ type: 'Problem', problem: `The log cannot be read: ${why}` });
  }
}

const ALL_LINES: ShownLines = { withTimestamps: false, withAgent: false, window: undefined };

/** Where no line says which process wrote it, all are shown, and the page hears why. */
function shownOf(
  { jobSet, pod }: Member,
  { process }: LogTarget,
  tell: (message: LogMessage) => void,
): ShownLines {
  if (process === undefined) return ALL_LINES;
  const found = rankInLog(jobSet, pod, process);
  if ('rank' in found) return { ...ALL_LINES, process: found.rank };
  tell({ type: 'Whole', why: found.problem });
  return ALL_LINES;
}

interface Member {
  readonly jobSet: Stored<JobSet>;
  readonly pod: Stored<Pod>;
}

/** The Pod, or a sentence that says why its log is not shown. */
async function memberPod(
  { client }: Pick<Surroundings, 'client'>,
  { namespace, name, pod: podName }: LogTarget,
  signal: AbortSignal,
): Promise<Member | string> {
  try {
    const [jobSet, pod] = await Promise.all([
      client.get(JOBSETS, { namespace, name }, { signal }),
      client.get(PODS, { namespace, name: podName }, { signal }),
    ]);
    return claims(pod, jobSet) ? { jobSet, pod } : `Pod ${podName} is no member of JobSet ${name}.`;
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
    return `Pod ${podName} is gone, and its log with it.`;
  }
}

async function follow(
  { client, clock, random }: Pick<Surroundings, 'client' | 'clock' | 'random'>,
  pod: Stored<Pod>,
  shown: ShownLines,
  stream: EventStream,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, uid } = pod.metadata;
  let hasProblem = false;
  const log = new MemberLog({
    client,
    clock,
    pod,
    container: containerOf(pod, undefined),
    first: { tailLines: FIRST_LINES },
    counts: countedBy(shown),
    onProblem: (message) => {
      hasProblem = true;
      stream.send(eventOf({ type: 'Problem', problem: `The log cannot be read now: ${message}` }));
    },
    signal,
  });
  const pods = createInformer<Pod>({
    client,
    clock,
    random,
    namespace,
    resource: PODS,
    fieldSelector: `metadata.name=${name}`,
    logger: SILENT,
  });
  const look = (now: typeof pod): void => {
    log.update(now.metadata.uid === uid ? now : undefined);
  };
  pods.subscribe({ added: look, updated: look, deleted: () => log.update(undefined) }, signal);
  const tell = (lines: readonly LogLine[]): void => {
    if (hasProblem) stream.send(eventOf({ type: 'Problem', problem: null }));
    hasProblem = false;
    if (lines.length > 0) stream.send(eventOf({ type: 'Lines', lines }));
  };
  try {
    const first: LogLine[] = [];
    for await (const line of linesOf(log.soFar(), shown)) {
      first.push(line);
      if (first.length > FIRST_LINES) first.shift();
    }
    tell(first);
    await tellInBatches(linesOf(log.following(), shown), clock, signal, async (lines) => {
      tell(lines);
      await stream.drained();
    });
  } finally {
    await pods.stop();
  }
}

async function* linesOf(
  lines: AsyncIterable<TimedLine>,
  shown: ShownLines,
): AsyncGenerator<LogLine> {
  for await (const { stamp, text, isCut } of shownLines(lines, '', shown)) {
    yield { time: stamp, text: shownText(text, isCut) };
  }
}

/** Bytes that are no text become replacement characters. */
export function shownText(bytes: Buffer, isCut: boolean): string {
  const text = bytes.toString('utf8');
  if (!isCut && text.length <= MAX_LINE_LENGTH) return text;
  const end = MAX_LINE_LENGTH - CUT_MARK.length;
  const isWithinPair = /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return text.slice(0, isWithinPair ? end - 1 : end) + CUT_MARK;
}

/** Reads no further than the page follows. */
async function tellInBatches(
  lines: AsyncIterable<LogLine>,
  clock: Surroundings['clock'],
  signal: AbortSignal,
  tell: (lines: readonly LogLine[]) => Promise<void>,
): Promise<void> {
  let batch: LogLine[] = [];
  let length = 0;
  let telling: Promise<void> | undefined;
  const flush = async (): Promise<void> => {
    const told = batch;
    batch = [];
    length = 0;
    if (told.length > 0) await tell(told);
  };
  const flushSoon = async (): Promise<void> => {
    await pause(clock, BATCH_MS, signal);
    telling = undefined;
    await flush();
  };
  for await (const line of lines) {
    batch.push(line);
    length += line.text.length;
    if (batch.length >= MAX_BATCH_LINES || length >= MAX_BATCH_LENGTH) await flush();
    else telling ??= flushSoon();
  }
  await telling;
  await flush();
}
