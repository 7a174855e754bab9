/**
 * Reads the samples of the example: records of one size, a label and the pixels of an image with
 * sixteen shades of grey, two to a byte. Only the wanted range of a file is read, so a worker holds
 * just its shard. `tools/mnist-samples.ts` writes the files.
 */
import { open } from 'node:fs/promises';

export const IMAGE_PIXELS = 28 * 28;
export const PIXELS_PER_BYTE = 2;
/** A pixel of 4 bits times this is one of 8 bits, from 0 to 255. */
export const SHADE_STEP = 17;

const RECORD_BYTES = 1 + IMAGE_PIXELS / PIXELS_PER_BYTE;

export interface Samples {
  readonly count: number;
  /** `count` images of `IMAGE_PIXELS` bytes, row by row. */
  readonly pixels: Uint8Array;
  /** One digit per image. */
  readonly labels: Uint8Array;
}

/** Reads the share `part` of `parts` of a file; the shares are contiguous and of equal size. */
export async function readSamples(path: string, part: number, parts: number): Promise<Samples> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size === 0 || size % RECORD_BYTES !== 0) {
      throw new Error(`${path} has ${size} bytes, expected records of ${RECORD_BYTES} bytes`);
    }
    const count = Math.floor(size / RECORD_BYTES / parts);
    const records = new Uint8Array(count * RECORD_BYTES);
    const position = part * records.length;
    const { bytesRead } = await file.read(records, 0, records.length, position);
    if (bytesRead !== records.length) {
      throw new Error(`${path} gave ${bytesRead} bytes, expected ${records.length}`);
    }
    return unpacked(records, count);
  } finally {
    await file.close();
  }
}

function unpacked(records: Uint8Array, count: number): Samples {
  const pixels = new Uint8Array(count * IMAGE_PIXELS);
  const labels = new Uint8Array(count);
  let next = 0;
  for (let index = 0; index < count; index++) {
    const first = index * RECORD_BYTES;
    labels[index] = records[first] ?? 0;
    for (let at = first + 1; at < first + RECORD_BYTES; at++) {
      const pair = records[at] ?? 0;
      pixels[next++] = (pair >> 4) * SHADE_STEP;
      pixels[next++] = (pair & 15) * SHADE_STEP;
    }
  }
  return { count, pixels, labels };
}
