/**
 * A perceptron with one hidden layer (784 - 64 - 10, ReLU, softmax) and its gradient. All
 * parameters lie in one `Float32Array`, so an all-reduce and a checkpoint handle one vector. Most
 * pixels of a digit are zero, and the first layer skips them, which saves four fifths of the work.
 */
import { IMAGE_PIXELS, type Samples } from './samples.ts';

const HIDDEN = 64;
const CLASSES = 10;
const B1 = IMAGE_PIXELS * HIDDEN;
const W2 = B1 + HIDDEN;
const B2 = W2 + HIDDEN * CLASSES;

export const PARAMETER_COUNT = B2 + CLASSES;

/** He initialisation from a seed, so that every run starts from the same parameters. */
export function initialParameters(seed: number): Float32Array {
  const next = generator(seed);
  const parameters = new Float32Array(PARAMETER_COUNT);
  const fill = (from: number, to: number, deviation: number): void => {
    for (let i = from; i < to; i++) {
      parameters[i] =
        deviation * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    }
  };
  fill(0, B1, Math.sqrt(2 / IMAGE_PIXELS));
  fill(W2, B2, Math.sqrt(2 / HIDDEN));
  return parameters;
}

/** Numbers in [0, 1) from a seed (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Working memory of one pass over one image. */
class Activations {
  readonly hidden = new Float32Array(HIDDEN);
  readonly output = new Float32Array(CLASSES);
  readonly hiddenError = new Float32Array(HIDDEN);
}

const memory = new Activations();

/**
 * Adds the gradient of the cross-entropy loss over the given samples to `gradient` and returns the
 * sum of their losses.
 */
export function addGradient(
  parameters: Float32Array,
  samples: Samples,
  indexes: Uint32Array,
  gradient: Float32Array,
): number {
  let loss = 0;
  for (const index of indexes) {
    const image = samples.pixels.subarray(index * IMAGE_PIXELS, (index + 1) * IMAGE_PIXELS);
    const label = samples.labels[index] ?? 0;
    forward(parameters, image);
    loss -= Math.log(Math.max(memory.output[label] ?? 0, 1e-12));
    backward(parameters, image, label, gradient);
  }
  return loss;
}

/** The share of samples whose most likely class is their label. */
export function accuracy(parameters: Float32Array, samples: Samples): number {
  let right = 0;
  for (let index = 0; index < samples.count; index++) {
    forward(parameters, samples.pixels.subarray(index * IMAGE_PIXELS, (index + 1) * IMAGE_PIXELS));
    let best = 0;
    for (let k = 1; k < CLASSES; k++) {
      if (at(memory.output, k) > at(memory.output, best)) best = k;
    }
    if (best === samples.labels[index]) right++;
  }
  return right / samples.count;
}

function at(values: Float32Array, index: number): number {
  return values[index] as number;
}

function forward(parameters: Float32Array, image: Uint8Array): void {
  const { hidden, output } = memory;
  for (let j = 0; j < HIDDEN; j++) hidden[j] = at(parameters, B1 + j);
  for (let p = 0; p < IMAGE_PIXELS; p++) {
    const pixel = image[p] as number;
    if (pixel === 0) continue;
    const value = pixel / 255;
    const row = p * HIDDEN;
    for (let j = 0; j < HIDDEN; j++) hidden[j] = at(hidden, j) + value * at(parameters, row + j);
  }
  for (let k = 0; k < CLASSES; k++) output[k] = at(parameters, B2 + k);
  for (let j = 0; j < HIDDEN; j++) {
    const value = at(hidden, j);
    if (value <= 0) {
      hidden[j] = 0;
      continue;
    }
    const row = W2 + j * CLASSES;
    for (let k = 0; k < CLASSES; k++) output[k] = at(output, k) + value * at(parameters, row + k);
  }
  softmax(output);
}

function softmax(output: Float32Array): void {
  let highest = Number.NEGATIVE_INFINITY;
  for (const value of output) highest = Math.max(highest, value);
  let sum = 0;
  for (let k = 0; k < CLASSES; k++) {
    output[k] = Math.exp(at(output, k) - highest);
    sum += at(output, k);
  }
  for (let k = 0; k < CLASSES; k++) output[k] = at(output, k) / sum;
}

function backward(
  parameters: Float32Array,
  image: Uint8Array,
  label: number,
  gradient: Float32Array,
): void {
  const { hidden, output, hiddenError } = memory;
  output[label] = at(output, label) - 1;
  for (let k = 0; k < CLASSES; k++) gradient[B2 + k] = at(gradient, B2 + k) + at(output, k);
  for (let j = 0; j < HIDDEN; j++) {
    const value = at(hidden, j);
    let error = 0;
    if (value > 0) {
      const row = W2 + j * CLASSES;
      for (let k = 0; k < CLASSES; k++) {
        error += at(parameters, row + k) * at(output, k);
        gradient[row + k] = at(gradient, row + k) + value * at(output, k);
      }
    }
    hiddenError[j] = error;
    gradient[B1 + j] = at(gradient, B1 + j) + error;
  }
  for (let p = 0; p < IMAGE_PIXELS; p++) {
    const pixel = image[p] as number;
    if (pixel === 0) continue;
    const value = pixel / 255;
    const row = p * HIDDEN;
    for (let j = 0; j < HIDDEN; j++) {
      gradient[row + j] = at(gradient, row + j) + value * at(hiddenError, j);
    }
  }
}
