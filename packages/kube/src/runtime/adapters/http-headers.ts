import type { IncomingHttpHeaders } from 'node:http';

/** Headers as the Transport port has them: a header that occurs more than once becomes one line. */
export function plainHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}
