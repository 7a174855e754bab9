/**
 * The candidate that is nearest to `text` by Levenshtein's distance, the first of several;
 * undefined if none is within `most`. A text whose length alone says that it is farther is not
 * compared, so the time is bounded by the lengths of the candidates.
 */
export function nearest(
  text: string,
  candidates: readonly string[],
  most: number,
): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of candidates) {
    if (Math.abs(text.length - name.length) > most) continue;
    const distance = editDistance(text, name);
    if (distance > most) continue;
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
