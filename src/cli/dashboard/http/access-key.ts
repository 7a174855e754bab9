/** The key from which open pages get what they prove to a server that is started again. */
import { randomBytes } from 'node:crypto';
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

export interface AccessKey {
  readonly key: string;
  /** Makes a new one: no page that is open can prove anything any more. */
  renew(): void;
}

const FILE = 'dashboard-key';
/** What earlier versions kept: it opened every server of the directory. */
const FORMER_FILE = 'dashboard-token';
const KEY_BYTES = 32;
/** 32 bytes in base64url. */
const KEY = /^[\w-]{43}$/;
/** A server that starts later makes a new one, and pages that are open by then need a new address. */
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;

/**
 * The key of a state directory. It stays the same from one server to the next, so that an open page
 * survives a restart. A user who removes the file ends all sessions at the next start.
 */
export function accessKeyIn(directory: string, nowMs: number): AccessKey {
  const file = join(directory, FILE);
  rmSync(join(directory, FORMER_FILE), { force: true });
  return renewable(() => newKey(directory, file), storedKey(file, nowMs));
}

/** A key that nobody keeps: no page survives a restart. */
export function passingAccessKey(): AccessKey {
  return renewable(newSecret);
}

function renewable(make: () => string, stored?: string): AccessKey {
  let key = stored ?? make();
  return {
    get key() {
      return key;
    },
    renew: () => {
      key = make();
    },
  };
}

/** For tokens, cookies and keys. */
export function newSecret(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** Undefined if there is none, it is old, or others may have read it. */
function storedKey(file: string, nowMs: number): string | undefined {
  try {
    const { mode, mtimeMs } = statSync(file);
    if ((mode & 0o077) !== 0 || nowMs - mtimeMs > MAX_AGE_MS) return undefined;
    const text = readFileSync(file, 'utf8').trim();
    return KEY.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function newKey(directory: string, file: string): string {
  const key = newSecret();
  const fresh = `${file}.${process.pid}`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(fresh, `${key}\n`, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
  return key;
}
