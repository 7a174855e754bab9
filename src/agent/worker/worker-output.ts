/** The port through which a supervisor reads its worker's output and passes it on. */

export type OutputStream = 'stdout' | 'stderr';

export interface WorkerOutput {
  /**
   * Begins for one start of a process. `take` gets its output in the order of arrival. With
   * `linePrefix`, only whole lines are passed on, each behind this text.
   */
  begin(
    take: (stream: OutputStream, chunk: Uint8Array) => void,
    linePrefix?: string,
  ): Promise<RelayedOutput>;
}

export interface RelayedOutput {
  /** Descriptors for the worker. A stream that is absent is the agent's own. */
  readonly streams: { readonly [S in OutputStream]?: number };
  /** The worker has its descriptors, or could not be started. */
  handedOver(): void;
  /** Takes and passes on the output so far. Other processes may still hold the streams. */
  end(): void;
}
