/** Formats times as the API does, from milliseconds since 1970. Parse them with `Date.parse`. */

/** `metav1.Time`: RFC 3339, whole seconds, UTC. */
export function timeText(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** `metav1.MicroTime`: RFC 3339 with six fractional digits, UTC. */
export function microTimeText(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
