/** The Helm chart as one file, as `helm package` would pack it. */
import { gzipSync } from 'node:zlib';
import { CHART_NAME, chartFiles } from '../helm/chart.ts';
import { tarOf } from '../image/tar.ts';

const FILE_MODE = 0o644;

export function packedChart(level: number): Buffer {
  const entries = [...chartFiles()].map(([path, text]) => ({
    kind: 'File' as const,
    path: `${CHART_NAME}/${path}`,
    mode: FILE_MODE,
    content: Buffer.from(text),
  }));
  return gzipSync(tarOf(entries), { level });
}
