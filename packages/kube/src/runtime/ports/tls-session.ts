/**
 * A TLS session that a client keeps of its last connection, so that the next one costs both sides
 * less. It is a secret of the two. It is worthless to another server, after a day, or after the
 * server's next certificate.
 */
export interface TlsSessionStore {
  /** Undefined if there is none. Never rejects, because a full handshake always works. */
  read(): Promise<Uint8Array | undefined>;
  /** Undefined: the stored session is useless. Never throws. */
  write(session: Uint8Array | undefined): void;
}

/** For a process that outlives its connections: sessions end with the process. */
export function processSessionStore(): TlsSessionStore {
  let kept: Uint8Array | undefined;
  return {
    read: () => Promise.resolve(kept),
    write: (session) => {
      kept = session;
    },
  };
}
