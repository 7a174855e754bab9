/**
 * The volume in which the agents of one simulated Pod keep their marker, one after the other. It
 * knows what is synced. The rest may be lost or torn when the disk stops.
 */
import { NO_MARKER, parseMarker } from '../../agent/marker.ts';
import { MARKER_FILE, type MarkerDirectory } from '../../agent/marker-file.ts';
import type { MarkerStep, Unsynced } from '../features/marker-acts.ts';

interface File {
  text: string;
  /** What the disk has of it. */
  synced: string;
}

type WriteStep = Exclude<MarkerStep, 'Acted'>;

const DONE = Promise.resolve();
const TORN_SHARE = 0.5;

export class MarkerVolume {
  /** As processes see the directory. */
  #files = new Map<string, File>();
  /** As the disk has it. */
  #synced = new Map<string, File>();
  #reached: (step: WriteStep) => void = () => undefined;
  /** The epoch that an agent announced last, since the file was whole. */
  announced = 0;
  /** The epoch in which the worker started last, since then. */
  started = 0;

  /** What is in the marker's file. */
  get text(): string {
    return this.#files.get(MARKER_FILE)?.text ?? '';
  }

  /** What agents have done and the marker does not know; undefined: it knows all. */
  get forgotten(): string | undefined {
    const { announced, started } = parseMarker(this.text) ?? NO_MARKER;
    if (announced < this.announced) return `epoch ${this.announced} was announced`;
    return started < this.started ? `the worker of epoch ${this.started} has started` : undefined;
  }

  /** For one process: once it is `gone`, nothing more happens, and no step ends. */
  directoryFor(gone: AbortSignal | undefined): MarkerDirectory {
    const isGone = (): boolean => gone?.aborted === true;
    const step = (name: WriteStep, act: () => void): Promise<void> => {
      if (!isGone()) {
        act();
        this.#reached(name);
      }
      return isGone() ? new Promise(() => undefined) : DONE;
    };
    return {
      path: '',
      read: (name) => Promise.resolve(this.#files.get(name)?.text),
      create: async (name) => {
        const file = { text: '', synced: '' };
        await step('Created', () => this.#files.set(name, file));
        return {
          writeFile: (text) =>
            step('Written', () => {
              file.text = text;
            }),
          sync: () =>
            step('TextSynced', () => {
              file.synced = file.text;
            }),
          close: () => DONE,
        };
      },
      rename: (from, to) =>
        step('Renamed', () => {
          const file = this.#files.get(from);
          if (file !== undefined) this.#files.set(to, file);
          this.#files.delete(from);
        }),
      sync: () =>
        step('Synced', () => {
          this.#synced = new Map(this.#files);
        }),
    };
  }

  /** Calls `act` once, when this step of a write is done. So many other writes come first. */
  at(step: WriteStep, writes: number, act: () => void): void {
    let left = writes;
    this.#reached = (reached) => {
      if (reached !== step || left-- > 0) return;
      this.#reached = () => undefined;
      act();
    };
  }

  /** The disk stops, and starts again. A torn file has its new name, and a part of its text. */
  crash(unsynced: Unsynced): void {
    if (unsynced === 'Kept') return;
    if (unsynced === 'Lost') this.#files = new Map(this.#synced);
    for (const file of this.#files.values()) {
      if (file.text === file.synced) continue;
      file.text = unsynced === 'Lost' ? file.synced : partOf(file.text, TORN_SHARE);
      file.synced = file.text;
    }
    this.#synced = new Map(this.#files);
  }

  /** This share of the marker's file is left. */
  tear(keeps: number): void {
    const file = this.#files.get(MARKER_FILE);
    if (file !== undefined) file.text = partOf(file.text, keeps);
    this.announced = 0;
    this.started = 0;
  }
}

function partOf(text: string, share: number): string {
  return text.slice(0, Math.floor(share * text.length));
}
