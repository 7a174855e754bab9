import type { HttpResponse } from '../../runtime/ports/transport.ts';

/** Of all warnings of one answer together: heads of answers are limited, here and in clients. */
const MAX_WARNING_CHARACTERS = 4_096;

/**
 * Adds what the client is to be told: RFC 9110 has withdrawn the header, and Kubernetes speaks it, as
 * `299 - "text"`. What a client sent may be quoted in it, so it is written in ASCII.
 */
export function withWarnings(response: HttpResponse, warnings: readonly string[]): HttpResponse {
  if (warnings.length === 0) return response;
  let warning = '';
  for (const text of new Set(warnings)) {
    const next = `${warning === '' ? '' : ', '}299 - "${escaped(text)}"`;
    if (warning.length + next.length > MAX_WARNING_CHARACTERS) break;
    warning += next;
  }
  return warning === '' ? response : { ...response, headers: { ...response.headers, warning } };
}

function escaped(text: string): string {
  return text
    .replace(/["\\]/g, '\\$&')
    .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
