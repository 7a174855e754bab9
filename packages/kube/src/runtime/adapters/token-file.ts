/** Reads a bearer token from a file that is replaced from time to time. */
import { readFile } from 'node:fs/promises';
import { ClusterAccessError } from '../credentials/cluster-access.ts';
import type { TokenSource } from '../credentials/credential-source.ts';
import type { Clock } from '../ports/clock.ts';

/** Kubelets replace tokens when a fifth of their life, at least two minutes, is left. */
const REREAD_INTERVAL_MS = 60_000;

type Bearer = Awaited<ReturnType<TokenSource['current']>>;

/**
 * The file is read at most once a minute, unless a server refuses the token. While it cannot be
 * read the last token is used, which may be valid for long.
 */
export function tokenFile(path: string, clock: Clock): TokenSource {
  let last: { readonly credentials: Bearer; readonly readAt: number } | undefined;
  let reading: Promise<Bearer> | undefined;
  const reread = async (): Promise<Bearer> => {
    try {
      const token = (await readFile(path, 'utf8')).trim();
      if (token === '') throw new ClusterAccessError(`${path}: must hold a token, but is empty`);
      const credentials = { token };
      last = { credentials, readAt: clock.monotonic() };
      return credentials;
    } catch (error) {
      if (last !== undefined) {
        last = { ...last, readAt: clock.monotonic() };
        return last.credentials;
      }
      if (error instanceof ClusterAccessError) throw error;
      const { message } = error as Error;
      throw new ClusterAccessError(`${path}: cannot be read: ${message}`, { cause: error });
    } finally {
      reading = undefined;
    }
  };
  return {
    current() {
      const isFresh = last !== undefined && clock.monotonic() - last.readAt < REREAD_INTERVAL_MS;
      if (last !== undefined && isFresh) return Promise.resolve(last.credentials);
      reading ??= reread();
      return reading;
    },
    refused({ token }) {
      if (last?.credentials.token === token) last = { ...last, readAt: Number.NEGATIVE_INFINITY };
    },
  };
}
