import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packedSamples } from '../../tools/mnist-samples.ts';
import { IMAGE_PIXELS, readSamples } from './samples.ts';

const COUNT = 10;

let directory: string;
let path: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'mnist-samples-'));
  path = join(directory, 'train');
  const images = Uint8Array.from({ length: COUNT * IMAGE_PIXELS }, (_, i) => i % 256);
  const labels = Uint8Array.from({ length: COUNT }, (_, i) => i);
  writeFileSync(path, packedSamples(images, labels));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the samples of a worker', () => {
  it('are those that were packed, in sixteen shades of grey', async () => {
    const { count, pixels, labels } = await readSamples(path, 0, 1);
    expect(count).toBe(COUNT);
    expect([...labels]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(pixels).toHaveLength(COUNT * IMAGE_PIXELS);
    pixels.forEach((pixel, index) => {
      expect(Math.abs(pixel - (index % 256))).toBeLessThanOrEqual(8);
    });
  });

  it('are its share, of the size of every other', async () => {
    const shares = await Promise.all([0, 1, 2].map((part) => readSamples(path, part, 3)));
    expect(shares.map(({ labels }) => [...labels])).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [6, 7, 8],
    ]);
  });

  it('are not read from another file', async () => {
    const other = join(directory, 'other');
    for (const text of ['', 'x'.repeat(394)]) {
      writeFileSync(other, text);
      await expect(readSamples(other, 0, 1)).rejects.toThrow(
        `other has ${text.length} bytes, expected records of 393 bytes`,
      );
    }
  });
});
