/** The port of the files in which workers report their progress and their last words. */

/** Gives each start of a worker a directory of its own. */
export interface WorkerFiles {
  /** Never rejects: undefined if there is no place for files, which was logged. */
  open(): Promise<FilesOfStart | undefined>;
}

export interface FilesOfStart {
  /** Paths for the worker. None of them exists. */
  readonly progress: string;
  readonly torchError: string;
  readonly reports: ProgressFile;
}

export interface ProgressFile {
  /**
   * The newest complete line if anything was written since the last call; undefined otherwise, and
   * while there is no file. What is wrong with the file is logged once. Never rejects, never
   * blocks.
   */
  read(): Promise<string | undefined>;
}
