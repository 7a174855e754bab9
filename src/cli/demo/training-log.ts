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

const PROCESS = /^rank (\d+) is process (\d+)$/;
const START = /^rank (\d+) of \d+ starts at step (\d+)$/;
const STEP = /^step (\d+) of (\d+) pass (\d+) loss ([\d.]+) images\/s (\d+)$/;
const CHECKPOINT = /^checkpoint at step (\d+)$/;
const ACCURACY = /^accuracy ([\d.]+) on \d+ test images$/;

/** The meaning of one line, or undefined for any other line. */
export function parseTrainingLine(line: string): TrainingLine | undefined {
  const numbers = (pattern: RegExp): readonly number[] | undefined =>
    pattern.exec(line)?.slice(1).map(Number);

  const process = numbers(PROCESS);
  if (process !== undefined)
    return { kind: 'process', rank: process[0] ?? 0, pid: process[1] ?? 0 };
  const start = numbers(START);
  if (start !== undefined) return { kind: 'start', rank: start[0] ?? 0, step: start[1] ?? 0 };
  const step = numbers(STEP);
  if (step !== undefined) {
    const [done = 0, steps = 0, pass = 0, loss = 0, imagesPerSecond = 0] = step;
    return { kind: 'step', step: done, steps, pass, loss, imagesPerSecond };
  }
  const checkpoint = numbers(CHECKPOINT);
  if (checkpoint !== undefined) return { kind: 'checkpoint', step: checkpoint[0] ?? 0 };
  const accuracy = numbers(ACCURACY);
  if (accuracy !== undefined) return { kind: 'accuracy', accuracy: accuracy[0] ?? 0 };
  return undefined;
}
