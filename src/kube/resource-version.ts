/**
 * Order of resourceVersions of one resource (KEP-5504): decimal numbers of any length. Negative if
 * `a` is older, 0 if they are the same; undefined if one is no such number, so nothing is known.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return a === b ? 0 : undefined;
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const DECIMAL = /^[1-9][0-9]*$/;
