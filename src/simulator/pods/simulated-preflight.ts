/** The command that checks the machine of a simulated worker that failed. */
import type { FakeProcess } from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';

export interface SimulatedPreflight {
  /** The line of shell. */
  readonly line: string;
  /** What it finds. */
  readonly isSound: () => boolean;
}

const TAKES_MS = 3000;
const FAILED_CODE = 1;

export function checkMachine(self: FakeProcess, clock: Clock, isSound: () => boolean): void {
  clock.setTimer(TAKES_MS, () => {
    if (self.isRunning) self.exit(isSound() ? 0 : FAILED_CODE);
  });
}
