import { readFile } from 'node:fs/promises';
import { ClusterAccessError } from '../cluster-access.ts';
import type { Clock } from '../ports/clock.ts';
import type { TokenSource } from '../token-source.ts';

/** Kubelets replace tokens when a fifth of their life, at least two minutes, is left. */
const REREAD_INTERVAL_MS = 60_000;

/**
 * The token of a file that is replaced from time to time. It is read again once a minute at most,
 * unless a server refuses it, and while it cannot be read the last one serves: it may be valid for
 * long.
 */
export function tokenFile(path: string, clock: Clock): TokenSource {
  let last: { readonly token: string; readonly readAt: number } | undefined;
  let reading: Promise<string> | undefined;
  const reread = async (): Promise<string> => {
    try {
      const token = (await readFile(path, 'utf8')).trim();
      if (token === '') throw new ClusterAccessError(`${path}: must hold a token, but is empty`);
      last = { token, readAt: clock.monotonic() };
      return token;
    } catch (error) {
      if (last !== undefined) {
        last = { token: last.token, readAt: clock.monotonic() };
        return last.token;
      }
      if (error instanceof ClusterAccessError) throw error;
      const { message } = error as Error;
      throw new ClusterAccessError(`${path}: cannot be read: ${message}`, { cause: error });
    } finally {
      reading = undefined;
    }
  };
  return {
    token() {
      const isFresh = last !== undefined && clock.monotonic() - last.readAt < REREAD_INTERVAL_MS;
      if (last !== undefined && isFresh) return Promise.resolve(last.token);
      reading ??= reread();
      return reading;
    },
    refused(token) {
      if (last?.token === token) last = { token, readAt: Number.NEGATIVE_INFINITY };
    },
  };
}
