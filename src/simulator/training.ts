/** What the workers of one JobSet do: step by step, with a checkpoint now and then. */
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';

const STEP_MS = 5000;
const STEPS_PER_CHECKPOINT = 6;

export class Training {
  readonly #clock: VirtualClock;
  /** The newest step in a checkpoint, from which workers continue. */
  #saved = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** A worker starts from the checkpoint. Returns what makes it silent. */
  start(report: (line: string) => void): () => void {
    let isOver = false;
    let step = this.#saved;
    const next = (): void => {
      this.#clock.setTimer(STEP_MS, () => {
        if (isOver) return;
        step++;
        if (step % STEPS_PER_CHECKPOINT === 0) this.#saved = Math.max(this.#saved, step);
        report(`${step} checkpoint=${this.#saved}`);
        next();
      });
    };
    next();
    return () => {
      isOver = true;
    };
  }
}
