/**
 * The hub: the streams of all agents, by JobSet. It sends only states that are stored. It answers a
 * hello only from a state that was read consistently after the hello had arrived; one read serves
 * all that wait. What agents say is passed on at once: it is soft state, and each hello repeats the
 * announcement (`docs/design/hub.md#what-the-hub-promises`).
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { Backoff } from '@lockstep/kube/runtime/backoff.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { KeyedBudget } from '@lockstep/kube/runtime/keyed-budget.ts';
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import { type Clock, pause, type Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { ByteStream, StreamListener } from '@lockstep/kube/runtime/ports/stream.ts';
import type { Rate } from '@lockstep/kube/runtime/token-bucket.ts';
import type { AgentMessage, ByeReason } from '../../jobset/hub/message.ts';
import { encodeHubMessage } from '../../jobset/hub/message.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { AgentEvent, RosterNews } from '../../jobset/roster/roster-events.ts';
import { DEFAULT_MAX_STREAMS } from '../configuration/stream-memory.ts';
import { AgentStream, type CloseReason, type HubMember, isFault } from './agent-stream.ts';
import { HubGroup } from './hub-group.ts';
import { type HubMetrics, hubMetrics } from './hub-metrics.ts';
import { PodInquiry, type PodInquiryOptions } from './pod-inquiry.ts';
import { NO_PROGRESS, type ProgressMeasures } from './progress-measures.ts';

export interface HubOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** The limit for all JobSets together. */
  readonly maxStreams?: number | undefined;
  /** Reads the JobSet from storage, never from a cache; undefined: it is gone. */
  readonly readJobSet: (key: string, signal: AbortSignal) => Promise<Stored<JobSet> | undefined>;
  readonly listPods: PodInquiryOptions['listPods'];
  /** Receives what agents say. */
  readonly tell: (event: AgentEvent) => void;
  /** The progress of all groups, for the metrics. */
  readonly measure?: () => ProgressMeasures;
}

/** The share of all streams that one JobSet may have, so that it leaves room for others. */
const SHARE_OF_ONE_JOBSET = 3 / 4;
const SWEEP_INTERVAL_MS = 2000;
/** Metrics of progress take a millisecond or two for 5,000 members. */
const SWEEPS_PER_MEASURE = 5;
const READ_TIMEOUT_MS = 5000;
/** Bounds the reads for thousands of agents that arrive at once to 50 a second. */
const READ_INTERVAL_MS = 20;
/**
 * For the JobSets of one namespace together, so that agents of other namespaces do not wait for
 * them.
 */
const NAMESPACE_READS: Rate = { perSecond: 50, burst: 500 };
/** A restarting API server is back after a few attempts; agents come again after that. */
const MAX_READ_ATTEMPTS = 6;
const READ_BACKOFF = { baseMs: 100, maxMs: 2000, jitterFactor: 0.5 } as const;

const ENDING = Buffer.from(encodeHubMessage({ type: 'ending' }));

export class Hub {
  readonly metrics: HubMetrics;
  readonly #options: HubOptions;
  /** By UID of the JobSet. */
  readonly #groups = new Map<string, HubGroup>();
  /** By UID of the Pod. */
  readonly #streams = new Map<string, AgentStream>();
  /** Streams whose ignored announcement has been logged. */
  readonly #toldOf = new WeakSet<AgentStream>();
  readonly #end = new AbortController();
  readonly #pods: PodInquiry;
  readonly #reads: KeyedBudget;
  #sweep: Timer;
  #sweeps = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.metrics = hubMetrics(options.metrics);
    this.#pods = new PodInquiry(options);
    this.#reads = new KeyedBudget(NAMESPACE_READS, options.clock);
    this.#sweep = this.#nextSweep();
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  /** Undefined, or why one more stream of that JobSet is too many. */
  fullness({ jobSetUid, podUid }: HubMember): string | undefined {
    if (this.#streams.has(podUid)) return undefined;
    const { maxStreams = DEFAULT_MAX_STREAMS } = this.#options;
    if (this.#streams.size >= maxStreams) return `there are ${maxStreams} streams already`;
    const ofOne = Math.ceil(maxStreams * SHARE_OF_ONE_JOBSET);
    const size = this.#groups.get(jobSetUid)?.size ?? 0;
    return size >= ofOne ? `the JobSet has ${ofOne} streams already` : undefined;
  }

  /** The agent of that Pod has proved who it is. An earlier stream of it ends. */
  open(member: HubMember, stream: ByteStream): StreamListener {
    this.#streams.get(member.podUid)?.bye('Replaced');
    const opened = new AgentStream(member, stream, this.#options.clock, {
      said: (from, message) => this.#take(from, message),
      over: (of, reason) => this.#over(of, reason),
      counted: (direction, type, bytes) => this.metrics.message(direction, type, bytes),
    });
    this.#options.tell({ kind: 'StreamOpened', podUid: member.podUid });
    if (this.#end.signal.aborted) {
      opened.bye('NotLeading');
      return opened;
    }
    this.#streams.set(member.podUid, opened);
    const group = this.#groupOf(member);
    group.add(opened);
    this.metrics.streams(this.#streams.size);
    if (member.isEnding) opened.send('ending', ENDING);
    return opened;
  }

  /** Tells agents what the roster says of their Pods and JobSets. */
  hear(news: RosterNews): void {
    if (news.kind === 'NewState') this.jobSetSeen(news.jobSet);
    else if (news.kind === 'PodEnding') this.podEnding(news.podUid);
    else if (news.kind === 'PodGone') this.podEnded(news.podUid);
    else if (news.kind === 'Outdated') this.#ignored(news.podUid, news.epoch);
    else if (news.kind === 'FellBack') this.metrics.fellBack();
  }

  /** A stored state of a JobSet, from any source. */
  jobSetSeen(jobSet: Stored<JobSet>): void {
    this.#groups.get(jobSet.metadata.uid)?.see(jobSet);
  }

  /** The Pod is being deleted. */
  podEnding(podUid: string): void {
    this.#streams.get(podUid)?.send('ending', ENDING);
  }

  /** The Pod does not live any more. */
  podEnded(podUid: string): void {
    this.#streams.get(podUid)?.bye('PodGone');
  }

  /** We no longer lead, so agents have to find the new leader. */
  close(): void {
    this.#end.abort(new Error('the hub closes'));
    this.#pods.close();
    this.#sweep.cancel();
    this.#byeAll([...this.#streams.values()], 'NotLeading');
    this.metrics.progress(NO_PROGRESS);
  }

  #take(stream: AgentStream, message: AgentMessage): void {
    const { podUid } = stream.member;
    const { tell } = this.#options;
    switch (message.type) {
      case 'hello':
        this.#greet(stream, message);
        break;
      case 'announce':
        tell({ kind: 'Announced', podUid, announcement: message.announcement });
        tell({ kind: 'Reported', podUid, progress: message.progress });
        break;
      case 'notice':
        tell({ kind: 'Noticed', podUid, epoch: message.epoch });
        break;
      case 'ping':
        if (message.ask !== undefined) this.#pods.ask(stream, message.ask);
        if (message.success !== undefined) {
          tell({ kind: 'WorkerSucceeded', podUid, success: message.success });
        }
        tell({ kind: 'Reported', podUid, progress: message.progress });
        break;
    }
  }

  /** The agent of that Pod has announced a newer epoch before, so the roster ignored this one. */
  #ignored(podUid: string, epoch: number): void {
    this.metrics.ignored();
    const stream = this.#streams.get(podUid);
    // An agent can cause this eighty times a second.
    if (stream === undefined || this.#toldOf.has(stream)) return;
    this.#toldOf.add(stream);
    const { namespace, podName, jobSet: jobset } = stream.member;
    this.#options.logger.info('an announcement is older than the one before it', {
      epoch,
      pod: `${namespace}/${podName}`,
      jobset,
    });
  }

  #greet(stream: AgentStream, hello: Extract<AgentMessage, { readonly type: 'hello' }>): void {
    const { jobSetUid, podUid } = stream.member;
    const { tell } = this.#options;
    if (hello.jobSetUid !== undefined && hello.jobSetUid !== jobSetUid) {
      stream.bye('OtherJobSet');
      return;
    }
    const { announcement, progress } = hello;
    if (announcement !== undefined) tell({ kind: 'Announced', podUid, announcement });
    tell({ kind: 'Reported', podUid, progress });
    const group = this.#groupOf(stream.member);
    group.waiting.add(stream);
    if (!group.isReading) void this.#answer(group);
  }

  /** Reads until no hello waits. A hello that arrives during a read waits for the next. */
  async #answer(group: HubGroup): Promise<void> {
    group.isReading = true;
    const [namespace = ''] = group.key.split('/');
    while (group.waiting.size > 0) {
      const waitMs = this.#reads.of(namespace).take();
      if (waitMs > 0) await this.#pause(waitMs);
      const answered = group.waiting;
      group.waiting = new Set();
      const { known } = group;
      const jobSet = await this.#read(group);
      if (jobSet === undefined) this.#byeAll(answered, 'Unavailable');
      else {
        group.seeFresh(jobSet, known);
        group.greet(answered);
      }
      if (group.waiting.size > 0) await this.#pause(READ_INTERVAL_MS);
    }
    group.isReading = false;
    if (group.size === 0) this.#groups.delete(group.uid);
  }

  async #read({ key, uid }: HubGroup): Promise<Stored<JobSet> | undefined> {
    const { clock, random, logger, readJobSet } = this.#options;
    const { signal } = this.#end;
    const backoff = new Backoff(random, READ_BACKOFF);
    for (let attempt = 1; attempt <= MAX_READ_ATTEMPTS && !signal.aborted; attempt++) {
      try {
        const jobSet = await withDeadline(clock, READ_TIMEOUT_MS, signal, (within) =>
          readJobSet(key, within),
        );
        return jobSet?.metadata.uid === uid ? jobSet : undefined;
      } catch (error) {
        if (signal.aborted) return undefined;
        logger.warn('a JobSet could not be read for its agents', { jobset: key, err: error });
        await this.#pause(backoff.next());
      }
    }
    return undefined;
  }

  /** Ends early if the hub closes. */
  async #pause(delayMs: number): Promise<void> {
    await pause(this.#options.clock, delayMs, this.#end.signal);
  }

  #over(stream: AgentStream, reason: CloseReason): void {
    const { podUid, podName, namespace, jobSetUid, jobSet } = stream.member;
    this.metrics.closed(reason);
    if (isFault(reason)) {
      const pod = `${namespace}/${podName}`;
      this.#options.logger.warn('ended the stream of an agent', { reason, pod, jobset: jobSet });
    }
    const seenMs = reason === 'Silent' ? stream.heardMs : this.#options.clock.monotonic();
    this.#options.tell({ kind: 'StreamClosed', podUid, seenMs });
    const group = this.#groups.get(jobSetUid);
    group?.remove(stream);
    if (group?.size === 0 && !group.isReading) this.#groups.delete(jobSetUid);
    if (this.#streams.get(podUid) === stream) this.#streams.delete(podUid);
    this.metrics.streams(this.#streams.size);
  }

  #groupOf({ jobSet, jobSetUid }: HubMember): HubGroup {
    let group = this.#groups.get(jobSetUid);
    if (group === undefined) {
      group = new HubGroup(jobSet, jobSetUid, this.#options.clock);
      this.#groups.set(jobSetUid, group);
    }
    return group;
  }

  #byeAll(streams: Iterable<AgentStream>, reason: ByeReason): void {
    for (const stream of streams) stream.bye(reason);
  }

  #nextSweep(): Timer {
    const { clock } = this.#options;
    return clock.setTimer(SWEEP_INTERVAL_MS, () => {
      const nowMs = clock.monotonic();
      for (const stream of this.#streams.values()) stream.checkSilence(nowMs);
      this.metrics.flush();
      if (++this.#sweeps % SWEEPS_PER_MEASURE === 0) {
        this.metrics.progress(this.#options.measure?.() ?? NO_PROGRESS);
      }
      this.#sweep = this.#nextSweep();
    });
  }
}
