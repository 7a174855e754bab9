/** Writes a trace while a world runs. It only listens, so a run is the same with it and without. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Channel, ChannelListener } from '../agent/channel.ts';
import {
  MAX_TEXT_LENGTH,
  type Told,
  TRACE_VERSION,
  type TraceEvent,
  type TraceLine,
} from '../dashboard/messages/trace.ts';
import type { JobSet } from '../jobset/jobset.ts';
import { lagFields, type Progress, progressFields } from '../jobset/progress/progress.ts';
import { overhearing } from './overhearing.ts';

/** The end of a text of which there was more. */
const CUT = '...';

/** A member, as events name it, and the UID of its Pod. */
export interface Teller {
  readonly slot: string;
  readonly uid: string;
}

export class Tracer {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #write: (line: TraceLine) => void;
  #isOver = false;
  /** By UID of the Pod. */
  readonly #told = new Map<string, Told>();
  /** What each agent heard last, by UID of its Pod. */
  readonly #heard = new Map<string, string>();

  constructor(clock: Pick<Clock, 'monotonic'>, write: (line: TraceLine) => void) {
    this.#clock = clock;
    this.#write = (line) => {
      if (!this.#isOver || line.kind === 'Violated') write(line);
    };
  }

  /** Comes first. `startMs` is the wall time at which the world began. */
  begin(seed: number, startMs: number): void {
    this.#write({ kind: 'Trace', version: TRACE_VERSION, seed, startMs });
  }

  /** The world is taken down: what happens from now on befell nobody, but may violate a property. */
  end(): void {
    this.#isOver = true;
  }

  /** A list of all members may be long, and an error has its stack. */
  event({ kind, atMs, text }: TraceEvent): void {
    const line = text.replaceAll(/\s+/g, ' ');
    const isCut = line.length > MAX_TEXT_LENGTH;
    const told = isCut ? `${line.slice(0, MAX_TEXT_LENGTH - CUT.length)}${CUT}` : line;
    this.#write({ kind, atMs, text: told });
  }

  sawJobSet(jobSet: Stored<JobSet>): void {
    this.#write({ kind: 'JobSet', atMs: this.#atMs, jobSet: withoutManagers(jobSet) });
  }

  sawPod(pod: Stored<Pod>): void {
    const { nodeName, containers } = pod.spec;
    // What runs in it takes most of the bytes, and no view of a member shows it.
    const names = containers.map(({ name }) => ({ name }));
    const spec = { containers: names, ...defined({ nodeName }) };
    this.#write({ kind: 'Pod', atMs: this.#atMs, pod: { ...withoutManagers(pod), spec } });
  }

  podGone({ metadata: { uid } }: Stored<Pod>): void {
    this.#told.delete(uid);
    this.#heard.delete(uid);
    this.#write({ kind: 'PodGone', atMs: this.#atMs, uid });
  }

  /** The channel of an agent, with an ear at it. */
  overhear(of: Teller, channel: Channel): Channel {
    return overhearing(channel, {
      announces: ({ epoch }) => this.#add('Announces', `${of.slot} announces epoch ${epoch}`),
      around: (listener) => this.#listener(of, listener),
    });
  }

  #listener(of: Teller, listener: ChannelListener): ChannelListener {
    return {
      snapshot: (snapshot) => {
        const heard = `ended ${snapshot.deprecated}, released ${snapshot.released}`;
        if (this.#heard.get(of.uid) !== heard) {
          this.#heard.set(of.uid, heard);
          this.#add('Hears', `${of.slot} hears: ${heard}`);
        }
        listener.snapshot(snapshot);
      },
      announced: (epoch) => {
        if (this.#told.get(of.uid)?.epoch !== epoch) {
          this.#tell(of, { epoch });
          this.#add('Announced', `epoch ${epoch} of ${of.slot} has arrived`);
        }
        listener.announced(epoch);
      },
      podEnding: () => listener.podEnding(),
      podLives: (askedMs) => listener.podLives(askedMs),
      answered: (askedMs) => listener.answered(askedMs),
      progress: () => {
        const progress = listener.progress();
        if (progress !== undefined) {
          // As it reaches the hub: in whole milliseconds.
          const told = { ...progressFields(progress), ...lagFields(progress) } as Progress;
          if (this.#isNews(of, told)) this.#tell(of, { progress: told });
        }
        return progress;
      },
    };
  }

  /** Times alone are none: they grow, and a player adds what has passed since the line. */
  #isNews({ uid }: Teller, progress: Progress): boolean {
    const before = this.#told.get(uid)?.progress;
    return before === undefined || withoutTimes(before) !== withoutTimes(progress);
  }

  #tell({ uid }: Teller, news: Told): void {
    const told = { ...this.#told.get(uid), ...news };
    this.#told.set(uid, told);
    this.#write({ kind: 'Told', atMs: this.#atMs, uid, ...news });
  }

  #add(kind: TraceEvent['kind'], text: string): void {
    this.event({ kind, atMs: this.#atMs, text });
  }

  get #atMs(): number {
    return this.#clock.monotonic();
  }
}

function withoutTimes({ firstStepMs, lag, rest, ...progress }: Progress): string {
  const hasStepped = firstStepMs !== undefined;
  const ranks = lag?.map((rank) => ({ ...rank, silentMs: 0 }));
  const others = rest && { ...rest, silentMs: 0 };
  const news = { ...progress, hasStepped, silentMs: 0, checkpointMs: 0, lag: ranks, rest: others };
  return JSON.stringify(news);
}

function withoutManagers<T extends Stored<JobSet> | Stored<Pod>>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
