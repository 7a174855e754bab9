/** Bugs about members that leave their nodes, preflights, and agents without a hub. */
import type { PlantedBug } from './planted-bug.ts';

export const LEAVING_BUGS: readonly PlantedBug[] = [
  {
    name: 'a member that failed too often stays on its node',
    file: 'src/jobset/plan/restart/strikes.ts',
    find: 'strikes.length < limit.strikes',
    replace: 'strikes.length <= limit.strikes',
    seed: 1,
    faults: 'NodeBreaks,WorkerKilled,WorkerExits',
  },
  {
    name: 'a member leaves its node although it is only a likely culprit',
    file: 'src/jobset/plan/restart/strikes.ts',
    find: "if (!isRecent || !isFailure || first?.confidence !== 'Certain') continue;",
    replace: 'if (!isRecent || !isFailure || first === undefined) continue;',
    seed: 19,
    faults: 'NodeBreaks,WorkerKilled,WorkerExits',
  },
  {
    name: 'a group is released while a Pod is still to leave',
    file: 'src/jobset/plan/restart/replacement.ts',
    find: 'if (toGo.length > 0) return [{ actions: toGo }];',
    replace: '',
    seed: 13,
    faults: 'NodeBreaks,OperatorDiesAtWrite',
  },
  {
    name: 'a preflight that passed counts as failed',
    file: 'src/agent/worker/preflight.ts',
    find: "else if (exit?.exitCode === 0) logger.info('the preflight passed');",
    replace: '',
    seed: 5,
    faults: 'NodeBreaks,WorkerKilled',
  },
  {
    name: 'a member announces while its preflight runs',
    file: 'src/agent/barrier.ts',
    find: "            state: { ...state, end, stage: { name: 'Checking' } },\n            effects: [{ type: 'preflight' }],",
    replace:
      "            state: approach({ ...state, end }, known, end).state,\n            effects: [{ type: 'preflight' }, ...approach({ ...state, end }, known, end).effects],",
    seed: 5,
    faults: 'NodeBreaks,WorkerKilled',
  },
  {
    name: 'an agent without a hub gives up an announcement that failed',
    file: 'src/agent/announcer.ts',
    find: 'if (!(await this.#attempt(announcement))) continue;',
    replace: 'if (!(await this.#attempt(announcement))) { this.#wanted = undefined; continue; }',
    seed: 45,
  },
];
