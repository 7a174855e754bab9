/** The port of the files in which a worker leaves a message before it ends. */

export interface WorkerMessages {
  /** Changes whenever the file does; undefined while there is none. Never rejects. */
  state(path: string): Promise<string | undefined>;
  /**
   * The last bytes of the file, if its state has changed. A problem with the file is logged once.
   * Never rejects.
   */
  changed(path: string, before: string | undefined): Promise<string | undefined>;
}
