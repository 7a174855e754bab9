/**
 * The order of resourceVersions of one resource (KEP-5504): decimal numbers of any length. Versions of
 * another form have no order, so nothing is known of them.
 */

/** Whether a version is known to be older. False where the two have no order. */
export function isOlder(version: string, than: string): boolean {
  return (compare(version, than) ?? 0) < 0;
}

/** Whether a version is neither older nor the same. True where the two have no order. */
export function mayBeNewer(version: string, than: string): boolean {
  return (compare(version, than) ?? 1) > 0;
}

function compare(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

const DECIMAL = /^[1-9][0-9]*$/;
