/** Parses the lines that the MNIST example's workers (`examples/mnist/worker.ts`) print. */
export type TrainingLine =
  | { readonly kind: 'process'; readonly rank: number; readonly pid: number }
  | { readonly kind: 'start'; readonly rank: number; readonly step: number }
  | {
      readonly kind: 'step';
      readonly step: number;
      readonly steps: number;
      /** A pass over the training images; "epoch" means something else here. */
      readonly pass: number;
      readonly loss: number;
      readonly imagesPerSecond: number;
    }
  | { readonly kind: 'checkpoint'; readonly step: number }
  | { readonly kind: 'accuracy'; readonly accuracy: number };

const LINES: readonly (readonly [RegExp, (numbers: readonly number[]) => TrainingLine])[] = [
  [/^rank (\d+) is process (\d+)$/, ([rank = 0, pid = 0]) => ({ kind: 'process', rank, pid })],
  [
    /^rank (\d+) of \d+ starts at step (\d+)$/,
    ([rank = 0, step = 0]) => ({ kind: 'start', rank, step }),
  ],
  [
    /^step (\d+) of (\d+) pass (\d+) loss ([\d.]+) images\/s (\d+)$/,
    ([step = 0, steps = 0, pass = 0, loss = 0, imagesPerSecond = 0]) => {
      return { kind: 'step', step, steps, pass, loss, imagesPerSecond };
    },
  ],
  [/^checkpoint at step (\d+)$/, ([step = 0]) => ({ kind: 'checkpoint', step })],
  [/^accuracy ([\d.]+) on \d+ test images$/, ([accuracy = 0]) => ({ kind: 'accuracy', accuracy })],
];

/** The meaning of one line, or undefined for any other line. */
export function parseTrainingLine(line: string): TrainingLine | undefined {
  for (const [pattern, lineOf] of LINES) {
    const found = pattern.exec(line);
    if (found !== null) return lineOf(found.slice(1).map(Number));
  }
  return undefined;
}
