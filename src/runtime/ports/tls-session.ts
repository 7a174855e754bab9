/**
 * What a client keeps of its last connection so that the next one costs both sides less: a TLS session,
 * by which the server knows that it has proved who it is before. It is a secret of that connection, and
 * worth nothing after a day, with another server, or where it is lost.
 */
export interface TlsSessionStore {
  /** Undefined when there is none. It never rejects: a handshake in full is always a way. */
  read(): Promise<Uint8Array | undefined>;
  write(session: Uint8Array): void;
}

/** For a process that outlives its connections: it forgets with the process. */
export function processSessionStore(): TlsSessionStore {
  let kept: Uint8Array | undefined;
  return {
    read: () => Promise.resolve(kept),
    write: (session) => {
      kept = session;
    },
  };
}
