/**
 * Whether `version` is older than `than`. Resource versions are opaque to most of the API, but those
 * of one resource may be ordered, as decimal numbers of any length; an absent one is the oldest.
 */
export function isOlderVersion(version: string | undefined, than: string | undefined): boolean {
  const a = version ?? '';
  const b = than ?? '';
  return a.length === b.length ? a < b : a.length < b.length;
}
