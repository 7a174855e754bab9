/** Names in a sentence. */

/** Names that are listed before the rest is counted. */
const MAX_LISTED = 12;

/** `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[], joint: 'and' | 'or' = 'and'): string {
  const shown =
    names.length <= MAX_LISTED
      ? names
      : [...names.slice(0, MAX_LISTED), `${names.length - MAX_LISTED} more`];
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} ${joint} ${last}`;
}
