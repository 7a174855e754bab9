/** The operator's own hub with one member, or as many as have tokens, over streams in memory. */

import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { MemoryStreams } from '@lockstep/kube/runtime/memory/memory-streams.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ByteStream } from '@lockstep/kube/runtime/ports/stream.ts';
import type { JobSet } from '../jobset/jobset.ts';
import type { AgentEvent } from '../jobset/roster/roster-events.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';
import type { WorkerEnd } from '../jobset/worker-end/worker-end.ts';
import { Hub } from '../operator/hub/hub.ts';
import { FakeApi } from './fake-api.fixture.ts';

const MEMBER = {
  namespace: 'ns',
  podName: 'pod',
  podUid: 'pod-uid',
  jobSet: 'ns/train',
  jobSetUid: 'jobset-uid',
  stage: 'w',
  isEnding: false,
} as const;

const READ_MS = 3;

export class FakeHub {
  readonly streams: MemoryStreams;
  hub: Hub;
  /** The stored objects. */
  readonly api = new FakeApi();
  /** The newest announcement of the Pod. */
  announced: Announcement | undefined;
  /** Epochs for which the agents gave notice. */
  readonly notices: number[] = [];
  readonly successes: WorkerEnd[] = [];
  /** Reads of the JobSet that have begun. */
  reads = 0;
  /** While set, each read fails with it. */
  readFailure: Error | undefined;
  readonly #clock: Clock;
  #stream: ByteStream | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.streams = new MemoryStreams(clock);
    this.hub = this.#start();
    // A token is the UID of its Pod.
    this.streams.acceptor = ({ token: podUid = MEMBER.podUid }) =>
      Promise.resolve({
        kind: 'Accept',
        open: (stream) => {
          this.#stream = stream;
          return this.hub.open({ ...MEMBER, podUid }, stream);
        },
      });
  }

  /** The leader changes: the new hub has none of the reports to the first. */
  replace(): void {
    this.hub.close();
    this.announced = undefined;
    this.hub = this.#start();
  }

  setStatus(deprecated: number, released: number): void {
    this.api.setStatus(deprecated, released);
    this.#show();
  }

  annotate(annotations: StringMap): void {
    this.api.annotate(annotations);
    this.#show();
  }

  #show(): void {
    if (this.api.jobSet !== undefined) this.hub.jobSetSeen(this.api.jobSet);
  }

  sayNonsense(): void {
    this.#stream?.write(Buffer.from('{"type":"surprise"}\n'));
  }

  #start(): Hub {
    return new Hub({
      clock: this.#clock,
      random: new SeededRandom(3),
      logger: SILENT,
      readJobSet: () => this.#read(),
      listPods: () => this.#listPods(),
      tell: (event) => this.#hear(event),
    });
  }

  #hear(event: AgentEvent): void {
    if (event.kind === 'Noticed') this.notices.push(event.epoch);
    if (event.kind === 'WorkerSucceeded') this.successes.push(event.success);
    if (event.kind !== 'Announced') return;
    const { announcement } = event;
    if (announcement.epoch >= (this.announced?.epoch ?? 0)) this.announced = announcement;
  }

  async #listPods(): Promise<ReadonlySet<string>> {
    const { uid = '', deletionTimestamp } = this.api.pod?.metadata ?? {};
    await sleep(this.#clock, READ_MS);
    return new Set(deletionTimestamp === undefined ? [uid] : []);
  }

  async #read(): Promise<Stored<JobSet> | undefined> {
    this.reads++;
    const { jobSet } = this.api;
    await sleep(this.#clock, READ_MS);
    if (this.readFailure !== undefined) throw this.readFailure;
    return jobSet;
  }
}
