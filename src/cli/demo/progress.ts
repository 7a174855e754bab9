/** Shows the progress of a command. */
import type { TrainingLine } from './training-log.ts';

/** How often progress is printed where lines cannot be rewritten. */
const LINE_STEPS = 100;

/** Rewrites one line on a terminal, and prints few lines elsewhere. */
export class Progress {
  private readonly out: NodeJS.WriteStream;
  private isLineOpen = false;

  constructor(out: NodeJS.WriteStream) {
    this.out = out;
  }

  /** Prints a line that stays. */
  stage(text: string): void {
    if (this.isLineOpen) this.out.write('\r\x1b[K');
    this.isLineOpen = false;
    this.out.write(`${text}\n`);
  }

  /** `of` follows the number of the step. */
  training(line: TrainingLine, of: string): void {
    if (line.kind !== 'step') return;
    const text =
      `  step ${line.step}${of}  pass ${line.pass}  loss ${line.loss.toFixed(4)}` +
      `  ${line.imagesPerSecond} images/s`;
    if (this.out.isTTY) {
      this.out.write(`\r\x1b[K${text}`);
      this.isLineOpen = true;
    } else if (line.step % LINE_STEPS === 0) {
      this.out.write(`${text}\n`);
    }
  }
}
