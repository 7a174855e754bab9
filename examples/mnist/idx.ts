/**
 * Reads the MNIST files as Yann LeCun published them: `idx3-ubyte` images and `idx1-ubyte` labels,
 * big-endian headers, one byte per pixel. Only the wanted range of a file is read, so a worker
 * holds just its shard.
 */
import { open } from 'node:fs/promises';

export const IMAGE_PIXELS = 28 * 28;

const IMAGES_MAGIC = 2051;
const IMAGES_HEADER_BYTES = 16;
const LABELS_MAGIC = 2049;
const LABELS_HEADER_BYTES = 8;

export interface Samples {
  readonly count: number;
  /** `count` images of `IMAGE_PIXELS` bytes, row by row. */
  readonly pixels: Uint8Array;
  /** One digit per image. */
  readonly labels: Uint8Array;
}

/** Reads the share `part` of `parts` of a data set; the shares are contiguous and of equal size. */
export async function readSamples(
  directory: string,
  name: 'train' | 't10k',
  part: number,
  parts: number,
): Promise<Samples> {
  const images = `${directory}/${name}-images-idx3-ubyte`;
  const total = await readCount(images, IMAGES_MAGIC);
  const labels = `${directory}/${name}-labels-idx1-ubyte`;
  if ((await readCount(labels, LABELS_MAGIC)) !== total) {
    throw new Error(`${labels} holds another number of samples than ${images}`);
  }
  const count = Math.floor(total / parts);
  const first = part * count;
  return {
    count,
    pixels: await readRange(
      images,
      IMAGES_HEADER_BYTES + first * IMAGE_PIXELS,
      count * IMAGE_PIXELS,
    ),
    labels: await readRange(labels, LABELS_HEADER_BYTES + first, count),
  };
}

async function readCount(path: string, magic: number): Promise<number> {
  const header = await readRange(path, 0, LABELS_HEADER_BYTES);
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (view.getUint32(0) !== magic) {
    throw new Error(
      `${path} starts with ${view.getUint32(0)}, an idx file of this kind with ${magic}`,
    );
  }
  return view.getUint32(4);
}

async function readRange(path: string, position: number, length: number): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await file.read(bytes, done, length - done, position + done);
      if (bytesRead === 0) {
        throw new Error(
          `${path} ends after ${position + done} bytes, expected ${position + length}`,
        );
      }
      done += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}
