/** Tables of commands: columns as wide as their widest cell, as kubectl prints them. */

const GAP = '   ';

export function aligned(rows: readonly (readonly string[])[], gap = GAP): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return rows.map((row) => {
    const cells = row.map((cell, i) => cell.padEnd(widths[i] ?? 0));
    return cells.join(gap).trimEnd();
  });
}
