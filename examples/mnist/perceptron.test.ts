import { describe, expect, it } from 'vitest';
import { accuracy, addGradient, initialParameters, PARAMETER_COUNT } from './perceptron.ts';
import { IMAGE_PIXELS, type Samples } from './samples.ts';

/** Ten images, each a bright stroke in its own place, labelled by the place. */
const strokes: Samples = {
  count: 10,
  labels: Uint8Array.from({ length: 10 }, (_, i) => i),
  pixels: Uint8Array.from({ length: 10 * IMAGE_PIXELS }, (_, i) =>
    Math.floor((i % IMAGE_PIXELS) / 78) === Math.floor(i / IMAGE_PIXELS) ? 255 : 0,
  ),
};
const everyone = Uint32Array.from({ length: 10 }, (_, i) => i);

describe('the perceptron', () => {
  it('has the gradient that finite differences show', () => {
    const parameters = initialParameters(1);
    const gradient = new Float32Array(PARAMETER_COUNT);
    addGradient(parameters, strokes, everyone, gradient);
    const loss = (): number =>
      addGradient(parameters, strokes, everyone, new Float32Array(PARAMETER_COUNT));

    // One parameter of each layer, and one of each bias.
    for (const index of [100 * 64 + 3, 784 * 64 + 5, 784 * 64 + 64 + 17, PARAMETER_COUNT - 2]) {
      const value = parameters[index] ?? 0;
      const step = 1e-2;
      parameters[index] = value + step;
      const above = loss();
      parameters[index] = value - step;
      const below = loss();
      parameters[index] = value;
      expect((above - below) / (2 * step)).toBeCloseTo(gradient[index] ?? Number.NaN, 1);
    }
  });

  it('learns what it is shown', () => {
    const parameters = initialParameters(1);
    for (let step = 0; step < 50; step++) {
      const gradient = new Float32Array(PARAMETER_COUNT);
      addGradient(parameters, strokes, everyone, gradient);
      for (let i = 0; i < PARAMETER_COUNT; i++) {
        parameters[i] = (parameters[i] ?? 0) - 0.05 * (gradient[i] ?? 0);
      }
    }
    expect(accuracy(parameters, strokes)).toBe(1);
  });
});
