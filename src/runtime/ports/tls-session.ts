/**
 * What a client keeps of its last connection so that the next one costs both sides less: a TLS session,
 * by which the server knows that it has proved who it is before. It is a secret of those two, and worth
 * nothing to another server, after a day, or after the server's next certificate.
 */
export interface TlsSessionStore {
  /** Undefined when there is none. It never rejects: a handshake in full is always a way. */
  read(): Promise<Uint8Array | undefined>;
  /** Undefined: the one that was kept leads nowhere. It never throws. */
  write(session: Uint8Array | undefined): void;
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
