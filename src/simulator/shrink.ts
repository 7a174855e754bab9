/** Looks for a shorter scenario that violates the same property. */
import { type RunResult, runScenario } from './run.ts';
import type { Scenario } from './scenario.ts';

/** Each try is a whole run. */
const MAX_TRIES = 120;

export interface Shrunk {
  readonly scenario: Scenario;
  readonly result: RunResult;
}

export async function shrink(scenario: Scenario, result: RunResult): Promise<Shrunk> {
  let best: Shrunk = { scenario, result };
  let tries = 0;
  const improves = async (smaller: Scenario): Promise<boolean> => {
    if (tries++ >= MAX_TRIES) return false;
    const tried = await runScenario(smaller);
    if (tried.violation?.property !== result.violation?.property) return false;
    best = { scenario: smaller, result: tried };
    return true;
  };
  for (let size = Math.ceil(scenario.acts.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.scenario.acts.length; ) {
      const { acts } = best.scenario;
      const without = { ...best.scenario, acts: acts.toSpliced(at, size) };
      if (!(await improves(without))) at += size;
    }
  }
  for (const simpler of [{ operators: 1 }, { nodes: 1 }, { isInOrder: false }]) {
    await improves({ ...best.scenario, ...simpler });
  }
  return best;
}
