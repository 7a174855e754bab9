/**
 * Who may use this server: tokens that open one session each, the cookies of sessions, and passes
 * with which an open page gets a new session from a server that is started again. Tokens and cookies
 * end with the server, so nobody can use them who takes its port. Decision 33 has the reasons.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type Pass, proofText, type Renewal } from '../../../dashboard/messages/session.ts';
import { type AccessKey, newSecret } from './access-key.ts';

export type Exchange = { readonly cookie: string } | { readonly why: string };

/** A browser may need this time to start. */
const OPENED_LIFE_MS = 120_000;
/**
 * Two browsers that bring the same token within this time are a user and a thief, and nobody knows who
 * came first. Later it is a user who opens an old address again.
 */
const THEFT_MS = 60_000;
/** Browsers that one user keeps open; the oldest has to log in again. */
const MAX_SESSIONS = 64;
/** Tokens that are remembered, used ones among them. */
const MAX_TOKENS = 64;

interface Token {
  /** Absent: it is good until it is used. */
  readonly endsMs?: number;
  /** `session` is the digest of its cookie. */
  used?: { readonly atMs: number; readonly session: string };
}

export class Sessions {
  /** Random, so it cannot be known before this server has started. */
  readonly start = newSecret();
  readonly #key: AccessKey;
  readonly #clock: Clock;
  /** By digest, the oldest first: how long a look takes says nothing about a secret. */
  readonly #tokens = new Map<string, Token>();
  readonly #sessions = new Set<string>();
  /** Digests of sessions that were opened with the pass of a page. */
  readonly #renewed = new Set<string>();
  #printed = '';

  /** Another token is the one for the printed address now. */
  onNewToken: (token: string) => void = () => undefined;
  /** Sessions that were good are so no more. */
  onEnded: () => void = () => undefined;

  constructor({ key, clock }: { readonly key: AccessKey; readonly clock: Clock }) {
    this.#key = key;
    this.#clock = clock;
    this.#printed = this.#issue({});
  }

  /** For the address that the user reads. Another one takes its place once it is used. */
  get printedToken(): string {
    return this.#printed;
  }

  /** For the address that a program gets in its arguments, where every user of the machine reads it. */
  openedToken(): string {
    return this.#issue({ endsMs: this.#clock.now() + OPENED_LIFE_MS });
  }

  /** `session`: the cookie of a session that the browser has already. It keeps that one. */
  exchange(given: string, session: string | undefined): Exchange {
    const refused = (why: string): Exchange =>
      session === undefined ? { why } : { cookie: session };
    const token = this.#tokens.get(digest(given));
    if (token === undefined) return refused(UNKNOWN);
    const nowMs = this.#clock.now();
    const { used, endsMs } = token;
    if (used !== undefined) {
      const isSame = session !== undefined && digest(session) === used.session;
      if (isSame || nowMs - used.atMs > THEFT_MS) return refused(USED);
      this.#endStolen(used.session);
      return { why: USED_TWICE };
    }
    if (endsMs !== undefined && endsMs < nowMs) return refused(TOO_OLD);
    const cookie = session ?? this.#open();
    token.used = { atMs: nowMs, session: digest(cookie) };
    if (digest(given) === digest(this.#printed)) {
      this.#printed = this.#issue({});
      this.onNewToken(this.#printed);
    }
    return { cookie };
  }

  has(cookie: string): boolean {
    return this.#sessions.has(digest(cookie));
  }

  /** For a page at this host and port, to keep in its memory. */
  newPass(host: string): Pass {
    const id = newSecret();
    return { id, secret: this.#passSecret(id, host) };
  }

  /** The cookie of a new session for a page that has a pass of an earlier start. */
  renew({ id, proof }: Renewal, host: string): Exchange {
    const expected = createHmac('sha256', this.#passSecret(id, host))
      .update(proofText(host, this.start))
      .digest();
    const given = Buffer.from(proof, 'base64url');
    const isProven = given.length === expected.length && timingSafeEqual(given, expected);
    if (!isProven) return { why: NO_SESSION };
    const cookie = this.#open();
    this.#renewed.add(digest(cookie));
    dropOldest(this.#renewed, MAX_SESSIONS);
    return { cookie };
  }

  #endStolen(session: string): void {
    this.#sessions.delete(session);
    // The thief may have asked for a pass, and have opened more sessions with it.
    for (const renewed of this.#renewed) this.#sessions.delete(renewed);
    this.#renewed.clear();
    this.#key.renew();
    this.onEnded();
  }

  #passSecret(id: string, host: string): string {
    return createHmac('sha256', this.#key.key).update(`pass\n${host}\n${id}`).digest('base64url');
  }

  #open(): string {
    const cookie = newSecret();
    this.#sessions.add(digest(cookie));
    if (dropOldest(this.#sessions, MAX_SESSIONS)) this.onEnded();
    return cookie;
  }

  #issue(token: Token): string {
    const text = newSecret();
    this.#tokens.set(digest(text), token);
    dropOldest(this.#tokens, MAX_TOKENS);
    return text;
  }
}

const HOW = 'Open the address that lockstep printed last: it ends with ?token=... and works once.';
/** For a browser that has no session. */
export const NO_SESSION = HOW;
const UNKNOWN = `This address is of another start of lockstep, or was never valid. ${HOW}`;
const TOO_OLD = `This address was valid for ${OPENED_LIFE_MS / 60_000} minutes. ${HOW}`;
const USED = `This address has been used. ${HOW}`;
const USED_TWICE =
  'This address was used twice within a minute, so the session that it opened has ended: ' +
  `another user of this machine may have read it. ${HOW}`;

/** Undefined if it is none. The server bounds its length. */
export function parseRenewal(text: string): Renewal | undefined {
  const { id, proof } = parsedObject(text) ?? {};
  return typeof id === 'string' && typeof proof === 'string' ? { id, proof } : undefined;
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}

/** True if there were more than `max`. */
function dropOldest(of: Map<string, unknown> | Set<string>, max: number): boolean {
  const before = of.size;
  for (const key of of.keys()) {
    if (of.size <= max) break;
    of.delete(key);
  }
  return of.size < before;
}
