/**
 * The candidate that is nearest to `text` by Levenshtein's distance, the first of several. The time
 * is proportional to the product of both lengths, which is fine for names.
 */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of candidates) {
    const distance = editDistance(text, name);
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  return best?.name;
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
