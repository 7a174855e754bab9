import type { TrainingLine } from './training-log.ts';

/** How often a run that prints whole lines says where it is. */
const LINE_STEPS = 100;

/** Tells a waiting person what happens: one line rewritten on a terminal, few lines elsewhere. */
export class Progress {
  private readonly out: NodeJS.WriteStream;
  private isLineOpen = false;

  constructor(out: NodeJS.WriteStream) {
    this.out = out;
  }

  /** A line that stays. */
  stage(text: string): void {
    if (this.isLineOpen) this.out.write('\r\x1b[K');
    this.isLineOpen = false;
    this.out.write(`${text}\n`);
  }

  training(line: TrainingLine): void {
    if (line.kind !== 'step') return;
    const text =
      `  step ${line.step}/${line.steps}  pass ${line.pass}  loss ${line.loss.toFixed(4)}` +
      `  ${line.imagesPerSecond} images/s`;
    if (this.out.isTTY) {
      this.out.write(`\r\x1b[K${text}`);
      this.isLineOpen = true;
    } else if (line.step % LINE_STEPS === 0) {
      this.out.write(`${text}\n`);
    }
  }
}
