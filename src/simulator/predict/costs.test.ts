import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MEASURED } from './costs.ts';

type Row = Readonly<Record<string, string>>;

/** The rows of all tables between this heading of a page and the next one, by column. */
function rowsBelow(page: string, heading: string): readonly Row[] {
  const text = readFileSync(`docs/reference/${page}`, 'utf8');
  const [, below = ''] = text.split(`\n## ${heading}\n`);
  const [section = ''] = below.split(/\n##+ /);
  const tables = section.split('\n\n').filter((paragraph) => paragraph.startsWith('| '));
  return tables.flatMap((table) => {
    const [columns = [], , ...rows] = table
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    return rows.map((row) =>
      Object.fromEntries(columns.map((column, index) => [column, row[index] ?? ''])),
    );
  });
}

const EMBEDDED = rowsBelow('performance.md', 'With the embedded API server');

/** By `where`, the rows among which the measurement is. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'embedded, hostile': rowsBelow('benchmarks.md', 'While somebody attacks')
    .filter((row) => row['attack'] === 'none')
    .map((row) => ({ ...row, agents: '64' })),
  'embedded, fail-over': rowsBelow('performance.md', 'When the leader ends').filter(
    (row) => row['leader'] === 'killed',
  ),
  embedded: EMBEDDED.filter((row) => row['phase'] === 'hub'),
  Kubernetes: rowsBelow('performance.md', 'A real API server').filter(
    (row) => row['phase'] === 'hub',
  ),
  'slow day': EMBEDDED.filter((row) => row['phase'] === undefined),
};

/** In milliseconds or MiB. */
function figureOf(cell: string | undefined): number | undefined {
  const [, number = '', unit] = /^([\d.,]+) (ms|s|MiB)\b/.exec(cell ?? '') ?? [];
  if (number === '') return undefined;
  return Number(number.replaceAll(',', '')) * (unit === 's' ? 1000 : 1);
}

describe('figures that predictions are compared with', () => {
  it.each(MEASURED)('$members members, $where: the page has them', (measured) => {
    const { members, where, restartMs, cpuMs, memoryMib } = measured;
    const agents = members.toLocaleString('en');
    const rows = ROWS[where]?.filter((row) => row['agents'] === agents) ?? [];
    expect(rows).toHaveLength(1);
    const [row = {}] = rows;
    const restart = row['failure to last release'] ?? row['a restart in peace'] ?? row['restart'];
    const cpu = row['operator: CPU per restart'] ?? row['operator: CPU'];
    expect({
      restartMs: figureOf(restart),
      cpuMs: figureOf(cpu),
      memoryMib: figureOf(row['operator: peak'] ?? row['peak']),
    }).toEqual({ restartMs, cpuMs, memoryMib });
  });

  it('are all in the table of predictions, in the same order', () => {
    const compared = rowsBelow('performance.md', 'Predicted restarts').filter(
      (row) => row['measured'] !== undefined,
    );
    expect(compared.map((row) => row['agents'])).toEqual(
      MEASURED.map(({ members }) => members.toLocaleString('en')),
    );
  });
});
