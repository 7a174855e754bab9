/** How a page proves to a server that was started again that an earlier one let it in. */

/** What a page keeps in its memory, and nowhere else: another server of its port reads all else. */
export interface Pass {
  readonly id: string;
  readonly secret: string;
}

/** `GET`: which start of the server it is. */
export interface ServerStart {
  readonly start: string;
}

/** The body of a request for a new session. */
export interface Renewal {
  readonly id: string;
  /** HMAC-SHA-256 of `proofText` with the secret of the pass, in base64url. */
  readonly proof: string;
}

/** A proof names one host, one port and one start, so it is worth nothing anywhere else. */
export function proofText(host: string, start: string): string {
  return `lockstep-page\n${host}\n${start}`;
}
