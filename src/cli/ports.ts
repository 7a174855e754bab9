import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';

/** Time and chance of this machine. A command tells its user what happens, and logs nothing. */
export const PORTS = { clock: nodeClock, random: systemRandom, logger: SILENT };
