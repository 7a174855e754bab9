import type { HttpResponse } from '../../../runtime/ports/transport.ts';

/** Of all warnings of one answer together: heads of answers are limited, here and in clients. */
const MAX_WARNING_CHARACTERS = 4_096;
/** Of each, where all together are too long: so one long warning does not silence the others. */
const MAX_SHORTENED_CHARACTERS = 256;

/**
 * Adds what the client is to be told: RFC 9110 has withdrawn the header, and Kubernetes speaks it, as
 * `299 - "text"`. What a client sent may be quoted in it, so it is written in ASCII. Each warning is
 * told once.
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
