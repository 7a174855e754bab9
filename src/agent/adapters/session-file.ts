/**
 * Keeps the TLS session of the last hub connection in a file, because the agent is a new process
 * after each restart. The file lies beside the marker, where only the agent can read it. The agent
 * does not need it: a session that is lost, torn or of another hub counts as none.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { TlsSessionStore } from '@lockstep/kube/runtime/ports/tls-session.ts';

const SESSION_FILE = 'hub-session.json';

/** A resumed session skips the certificate check, so it is valid for these authorities only. */
export interface SessionPeer {
  /** `https://HOST:PORT` */
  readonly url: string;
  /** PEM. */
  readonly authorities: string | undefined;
}

export function createSessionFile(
  directory: string,
  { url, authorities = '' }: SessionPeer,
  logger: Logger,
): TlsSessionStore {
  const path = join(directory, SESSION_FILE);
  const peer = createHash('sha256').update(`${url}\n${authorities}`).digest('hex');
  let writing: Promise<unknown> = Promise.resolve();
  const replace = async (session: Uint8Array | undefined): Promise<void> => {
    try {
      if (session === undefined) return await rm(path, { force: true });
      const beside = `${path}.next`;
      const content = JSON.stringify({ peer, session: Buffer.from(session).toString('base64') });
      await writeFile(beside, content, { mode: 0o600 });
      await rename(beside, path);
    } catch (error) {
      logger.debug('the TLS session could not be kept', { path, err: error });
    }
  };
  return {
    async read() {
      try {
        const kept: unknown = JSON.parse(await readFile(path, 'utf8'));
        return sessionOf(kept, peer);
      } catch {
        // There is no session yet, or a crash left half of one.
        return undefined;
      }
    },
    write(session) {
      writing = writing.then(() => replace(session));
    },
  };
}

function sessionOf(kept: unknown, peer: string): Uint8Array | undefined {
  if (typeof kept !== 'object' || kept === null) return undefined;
  if (!('peer' in kept && 'session' in kept) || kept.peer !== peer) return undefined;
  return typeof kept.session === 'string' ? Buffer.from(kept.session, 'base64') : undefined;
}
