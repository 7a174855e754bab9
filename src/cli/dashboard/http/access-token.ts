/** The secret in the page's address, and the cookie for which the browser exchanges it. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export interface AccessToken {
  /** For the address. */
  readonly token: string;
  /** For the cookie, from which the token cannot be learned. */
  readonly cookie: string;
}

const FILE = 'dashboard-token';
const TOKEN_BYTES = 32;
/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;
/** A server that starts later makes a new one, and pages that are open by then need the new address. */
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;

/**
 * The token of a state directory. It stays the same from one server to the next, so that an open page
 * survives a restart; whoever removes the file ends all sessions at the next start.
 */
export function accessTokenIn(directory: string, nowMs: number): AccessToken {
  const file = join(directory, FILE);
  const token = storedToken(file, nowMs) ?? newToken(directory, file);
  return accessToken(token);
}

export function accessToken(token: string): AccessToken {
  return { token, cookie: createHmac('sha256', token).update('cookie').digest('base64url') };
}

/** Takes as long for texts that begin alike as for any others. */
export function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) =>
    createHmac('sha256', 'compared').update(text).digest(),
  );
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

/** Undefined if there is none, it is old, or others may have read it. */
function storedToken(file: string, nowMs: number): string | undefined {
  try {
    const { mode, mtimeMs } = statSync(file);
    if ((mode & 0o077) !== 0 || nowMs - mtimeMs > MAX_AGE_MS) return undefined;
    const text = readFileSync(file, 'utf8').trim();
    return TOKEN.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function newToken(directory: string, file: string): string {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const fresh = `${file}.${process.pid}`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(fresh, `${token}\n`, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
  return token;
}
