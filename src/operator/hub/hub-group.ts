/** The streams of one JobSet's agents. */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { mayBeNewer } from '@lockstep/kube/resource-version.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type GroupState, groupSize, groupState } from '../../jobset/epoch/group-state.ts';
import { encodeHubMessage } from '../../jobset/hub/message.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { isSameTimeouts } from '../../jobset/progress/progress-timeouts.ts';
import type { AgentStream } from './agent-stream.ts';

/**
 * The streams of one ReplicatedJob, which all get the same state. A state is encoded once and sent in
 * slices, so that thousands of writes do not delay incoming messages. A stream with several states due
 * gets only the newest.
 */
class StageStreams {
  readonly streams = new Set<AgentStream>();
  #state: GroupState;
  #members: number;
  #bytes: Uint8Array | undefined;
  #freshBytes: Uint8Array | undefined;
  /** Streams to which the state is still to be sent. */
  readonly #due = new Set<AgentStream>();
  #isSending = false;
  readonly #clock: Clock;

  constructor(state: GroupState, members: number, clock: Clock) {
    this.#state = state;
    this.#members = members;
    this.#clock = clock;
  }

  update(state: GroupState, members: number): void {
    const isSame =
      state.deprecated === this.#state.deprecated &&
      state.released === this.#state.released &&
      state.isBypassed === this.#state.isBypassed &&
      isSameTimeouts(state.timeouts, this.#state.timeouts) &&
      deepEqual(state.ranks, this.#state.ranks);
    this.#state = state;
    this.#members = members;
    this.#bytes = undefined;
    this.#freshBytes = undefined;
    if (isSame) return;
    for (const stream of this.streams) if (stream.isGreeted) this.#due.add(stream);
    this.#send();
  }

  /** Answers the hello of a stream. */
  greet(stream: AgentStream): void {
    if (!this.streams.has(stream)) return;
    this.#due.add(stream);
    this.#send();
  }

  remove(stream: AgentStream): void {
    this.streams.delete(stream);
    this.#due.delete(stream);
  }

  #send(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    this.#sendSlice();
  }

  #sendSlice(): void {
    let sent = 0;
    for (const stream of this.#due) {
      if (sent++ === SLICE) {
        this.#clock.setTimer(0, () => this.#sendSlice());
        return;
      }
      this.#due.delete(stream);
      const bytes = stream.isGreeted ? this.#encoded() : this.#encodedFresh();
      stream.isGreeted = true;
      stream.send('state', bytes);
    }
    this.#isSending = false;
  }

  #encoded(): Uint8Array {
    this.#bytes ??= this.#encode(false);
    return this.#bytes;
  }

  #encodedFresh(): Uint8Array {
    this.#freshBytes ??= this.#encode(true);
    return this.#freshBytes;
  }

  #encode(isFresh: boolean): Uint8Array {
    const members = this.#members;
    return Buffer.from(encodeHubMessage({ type: 'state', state: this.#state, members, isFresh }));
  }
}

/** A write to a TLS socket takes about 20 us: this is a few milliseconds. */
const SLICE = 200;

/** The streams of one JobSet's agents, and its newest known stored state. */
export class HubGroup {
  readonly key: string;
  readonly uid: string;
  /** Streams whose hello waits for a read that begins after it. */
  waiting = new Set<AgentStream>();
  isReading = false;
  readonly #clock: Clock;
  readonly #stages = new Map<string, StageStreams>();
  readonly #early = new Map<string, Set<AgentStream>>();
  #jobSet: Stored<JobSet> | undefined;

  constructor(key: string, uid: string, clock: Clock) {
    this.key = key;
    this.uid = uid;
    this.#clock = clock;
  }

  get size(): number {
    return this.streams().reduce((sum, streams) => sum + streams.size, 0);
  }

  streams(): readonly ReadonlySet<AgentStream>[] {
    return [...[...this.#stages.values()].map(({ streams }) => streams), ...this.#early.values()];
  }

  add(stream: AgentStream): void {
    const { stage } = stream.member;
    const known = this.#stages.get(stage)?.streams ?? this.#early.get(stage);
    if (known !== undefined) known.add(stream);
    else if (this.#jobSet !== undefined) this.#stageOf(stage, this.#jobSet).streams.add(stream);
    else this.#early.set(stage, new Set([stream]));
  }

  remove(stream: AgentStream): void {
    const { stage } = stream.member;
    this.waiting.delete(stream);
    this.#stages.get(stage)?.remove(stream);
    this.#early.get(stage)?.delete(stream);
  }

  /** A stored state, from a watch or a write, in any order. */
  see(jobSet: Stored<JobSet>): void {
    const known = this.#jobSet?.metadata.resourceVersion;
    const isNews = known === undefined || mayBeNewer(jobSet.metadata.resourceVersion, known);
    if (isNews) this.#take(jobSet);
  }

  /**
   * A state that was read from storage, and the known state when the read began. The known state is
   * older, whatever its version, but states that arrived meanwhile may be newer.
   */
  seeFresh(jobSet: Stored<JobSet>, knownBefore: Stored<JobSet> | undefined): void {
    if (this.#jobSet === knownBefore || this.#jobSet === undefined) this.#take(jobSet);
    else this.see(jobSet);
  }

  get known(): Stored<JobSet> | undefined {
    return this.#jobSet;
  }

  #take(jobSet: Stored<JobSet>): void {
    this.#jobSet = jobSet;
    for (const [stage, streams] of this.#early) {
      for (const stream of streams) this.#stageOf(stage, jobSet).streams.add(stream);
    }
    this.#early.clear();
    const members = groupSize(jobSet);
    for (const [name, stage] of this.#stages) stage.update(groupState(jobSet, name), members);
  }

  /** Answers hellos from the newest state that was read or written after their arrival. */
  greet(streams: Iterable<AgentStream>): void {
    for (const stream of streams) this.#stages.get(stream.member.stage)?.greet(stream);
  }

  #stageOf(name: string, jobSet: Stored<JobSet>): StageStreams {
    let stage = this.#stages.get(name);
    if (stage === undefined) {
      stage = new StageStreams(groupState(jobSet, name), groupSize(jobSet), this.#clock);
      this.#stages.set(name, stage);
    }
    return stage;
  }
}
