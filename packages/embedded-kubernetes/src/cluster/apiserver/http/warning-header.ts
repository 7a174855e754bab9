/** `Warning` headers, in which the server tells clients of problems that it accepts. */
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';

/** The limit for all warnings of an answer: clients limit the size of headers, and so do we. */
const MAX_WARNING_CHARACTERS = 4_096;
/**
 * The limit per warning if they exceed the total, so that a long one does not displace the others.
 */
const MAX_SHORTENED_CHARACTERS = 256;

/**
 * Adds the warnings as `299 - "text"`, the form of Kubernetes (RFC 9110 has withdrawn the header).
 * A text may quote what a client sent, so it is written in ASCII. Duplicates are left out.
 */
export function withWarnings(response: HttpResponse, warnings: readonly string[]): HttpResponse {
  const texts = [...new Set(warnings)].filter((text) => text !== '');
  if (texts.length === 0) return response;
  const whole = texts.map((text) => headerValue(text)).join(SEPARATOR);
  const warning = whole.length <= MAX_WARNING_CHARACTERS ? whole : shortened(texts);
  return { ...response, headers: { ...response.headers, warning } };
}

const SEPARATOR = ', ';

function shortened(texts: readonly string[]): string {
  const values = texts.map((text) => headerValue(text.slice(0, MAX_SHORTENED_CHARACTERS)));
  let header = '';
  for (const value of new Set(values)) {
    const next = header === '' ? value : header + SEPARATOR + value;
    if (next.length > MAX_WARNING_CHARACTERS) break;
    header = next;
  }
  return header;
}

function headerValue(text: string): string {
  return `299 - "${escaped(text)}"`;
}

function escaped(text: string): string {
  return text
    .replace(/["\\]/g, '\\$&')
    .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
