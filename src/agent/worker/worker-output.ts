/** The port through which a supervisor hears what its worker prints, while it passes it on. */

export type OutputStream = 'stdout' | 'stderr';

export interface WorkerOutput {
  /** For one start of a worker. `take` gets what it prints, in the order in which it arrives. */
  begin(take: (stream: OutputStream, chunk: Uint8Array) => void): Promise<RelayedOutput>;
}

export interface RelayedOutput {
  /** Descriptors for the worker. A stream that is absent is the agent's own. */
  readonly streams: { readonly [S in OutputStream]?: number };
  /** The worker has its descriptors, or could not be started. */
  handedOver(): void;
  /** Takes and passes on what the worker has written so far. Others may still hold its streams. */
  end(): void;
}
