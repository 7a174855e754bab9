/** Bugs that the simulator has to find: `npm run simulate -- --planted`. */
import { AGENT_BUGS } from './planted/agent-bugs.ts';
import { OPERATOR_BUGS } from './planted/operator-bugs.ts';
import { PLANNER_BUGS } from './planted/planner-bugs.ts';

export const PLANTED = [...PLANNER_BUGS, ...OPERATOR_BUGS, ...AGENT_BUGS];
