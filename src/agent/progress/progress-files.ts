/** The port of the files in which workers report their progress and their last words. */

/** Gives each start of a worker a directory of its own. */
export interface WorkerFiles {
  /**
   * Never rejects: undefined if there is no place for files, which was logged. `heard` gets the
   * complete lines of progress in the last bytes of the file after each change, old ones too.
   */
  open(heard?: LineListener): Promise<FilesOfStart | undefined>;
  /**
   * Whether an earlier agent was killed while a standby waited. Never rejects.
   */
  readonly hadStandby: Promise<boolean>;
  /** Removes files of ended workers, and prepares the next start, while there is time. */
  tidy(): void;
}

/** Gets a line without its end. */
export type LineListener = (line: string) => void;

export interface FilesOfStart {
  /** Paths for the worker. None of them exists. */
  readonly progress: string;
  readonly torchError: string;
  readonly start: string;
  readonly reports: ProgressFile;
  /** Lets the worker begin: the start file appears with this text, whole. May reject. */
  begin(text: string): Promise<void>;
  /** Notes for a later agent that a standby has these files, or that it is gone. May reject. */
  noteStandby(isAlive: boolean): Promise<void>;
  /** The worker is gone, and its files were read. */
  done(): void;
}

export interface ProgressFile {
  /**
   * The newest complete line if the file changed since the last call; undefined otherwise, and while
   * there is no file. A problem with the file is logged once. Never rejects, never blocks.
   */
  read(): Promise<string | undefined>;
}
