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
  readonly ranks: RankFiles;
  /** Lets the worker begin: the start file appears with this text, whole. May reject. */
  begin(text: string): Promise<void>;
  /** Notes for a later agent that a standby has these files, or that it is gone. May reject. */
  noteStandby(isAlive: boolean): Promise<void>;
  /** The worker is gone, and its files were read. */
  done(): void;
}

/** The files beside the progress file in which ranks below a launcher report for themselves. */
export interface RankFiles {
  /** The files that are new since the last call, of at most 64 ranks. Never rejects, never blocks. */
  found(): Promise<readonly RankFile[]>;
  /** What the rank wrote of the exception that ended it, if it wrote anything. Never rejects. */
  failure(local: number): Promise<RankFailure | undefined>;
  /** Whether the rank noted that SIGTERM ended it; undefined: it does not note that. Never rejects. */
  isTerminated(local: number): Promise<boolean | undefined>;
}

export interface RankFile {
  readonly local: number;
  readonly file: ProgressFile;
}

export interface RankFailure {
  /** The process that wrote it, as it says itself. */
  readonly pid: number;
  /** Monotonic. */
  readonly atMs: number;
  /** The traceback, or else the message. */
  readonly text: string | undefined;
}

export interface ProgressFile {
  /**
   * The newest complete line if the file changed since the last call; undefined otherwise, and while
   * there is no file. A problem with the file is logged once. Never rejects, never blocks.
   */
  read(): Promise<string | undefined>;
}
