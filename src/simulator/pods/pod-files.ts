/** The files of one simulated Pod's workers. Containers come and go, and these files stay. */
import type {
  FilesOfStart,
  LineListener,
  WorkerFiles,
} from '../../agent/progress/progress-files.ts';

/** A worker keeps the first line of its file and this many of the newest. */
const NEWEST_LINES = 2;

const NO_RANK_FILES: FilesOfStart['ranks'] = {
  found: () => Promise.resolve([]),
  failure: () => Promise.resolve(undefined),
  isTerminated: () => Promise.resolve(undefined),
};

export class PodFiles {
  readonly #byPath = new Map<string, FilesOfOneStart>();
  #opened = 0;

  /** As an agent finds them that starts now. Once it is `gone`, it changes nothing. */
  of(gone: () => boolean): WorkerFiles {
    const isLeft = [...this.#byPath.values()].some(({ isOfStandby }) => isOfStandby);
    return {
      hadStandby: Promise.resolve(isLeft),
      tidy: () => undefined,
      open: (heard) => {
        const files = new FilesOfOneStart(`/${++this.#opened}`, heard, gone);
        this.#byPath.set(files.progress, files);
        files.removed = () => this.#byPath.delete(files.progress);
        return Promise.resolve(files);
      },
    };
  }

  /** The files of the start that reports at this path. */
  at(progress: string | undefined): FilesOfOneStart | undefined {
    return this.#byPath.get(progress ?? '');
  }
}

export class FilesOfOneStart implements FilesOfStart {
  readonly ranks = NO_RANK_FILES;
  readonly progress: string;
  readonly torchError: string;
  readonly start: string;
  /** Called when the start file appears. */
  begun: () => void = () => undefined;
  removed: () => void = () => undefined;
  /** The text of the start file; undefined: there is none. */
  startText: string | undefined;
  /** There is a note that a standby has these files. */
  isOfStandby = false;
  readonly #lines: string[] = [];
  readonly #heard: LineListener | undefined;
  readonly #gone: () => boolean;
  #isNews = false;

  constructor(directory: string, heard: LineListener | undefined, gone: () => boolean) {
    this.progress = `${directory}/progress`;
    this.torchError = `${directory}/error.json`;
    this.start = `${directory}/start`;
    this.#heard = heard;
    this.#gone = gone;
  }

  readonly reports: FilesOfStart['reports'] = {
    read: () => {
      if (!this.#isNews) return NOTHING;
      this.#isNews = false;
      for (const line of this.#lines) this.#heard?.(line);
      return Promise.resolve(this.#lines.at(-1));
    },
  };

  /** The worker adds a line about its progress. */
  write(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > 1 + NEWEST_LINES) this.#lines.splice(1, 1);
    this.#isNews = true;
  }

  begin(text: string): Promise<void> {
    if (this.#gone()) return NOTHING;
    this.startText = text;
    this.isOfStandby = false;
    this.begun();
    return NOTHING;
  }

  noteStandby(isAlive: boolean): Promise<void> {
    if (!this.#gone()) this.isOfStandby = isAlive;
    return NOTHING;
  }

  done(): void {
    if (!this.#gone()) this.removed();
  }
}

const NOTHING = Promise.resolve(undefined);
