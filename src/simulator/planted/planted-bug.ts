import type { Scenario } from '../scenario.ts';

/** A bug that the simulator has to find. It replaces one text of one source file. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The first seed that finds it. */
  readonly seed?: number;
  /** The only faults in that seed, where few seeds of all faults meet what the bug needs. */
  readonly faults?: string;
  /** A scenario that finds it, where no seed of some thousand does. */
  readonly scenario?: Scenario;
  /** Arguments of the simulator that find it, where none of its own runs does. */
  readonly systematic?: readonly string[];
}
