/** What the agent adds to a Pod in Supervisor mode, delivered in each way. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Row } from '../../../src/bench/table.ts';
import { AGENT_DIRECTORY } from '../../../src/jobset/names.ts';
import { lockstep, processesWith, RUN } from '../../../test/node/node.ts';
import { bytesBelow } from './costs.ts';
import { KINDS, WORKER_OF } from './kinds.ts';
import { RunningGroup } from './running-group.ts';

const MIB = 1024 * 1024;
const DELIVERIES = { ImageVolume: 'shared by all Pods of the node', Copy: 'in each Pod' } as const;
const GROUP = { name: 'delivery', size: 4, prepare: 0 };

export async function measureDelivery(client: Client): Promise<readonly Row[]> {
  const { supervisor } = KINDS;
  if (supervisor === undefined) return [];
  const rows: Row[] = archivesOfAgents();
  for (const [delivery, where] of Object.entries(DELIVERIES)) {
    await lockstep('install', '--agent-delivery', delivery);
    const { running, ms } = await RunningGroup.start(client, supervisor, GROUP);
    const [pod] = await running.pods();
    const [agent] = processesWith(`${WORKER_OF}=${pod?.metadata.name}`);
    if (agent === undefined) throw new Error(`${pod?.metadata.name ?? 'no Pod'} has no agent`);
    const bytes = bytesBelow(`/proc/${agent.pid}/root${AGENT_DIRECTORY}`);
    const notes = `${where}; first start of ${GROUP.size} Pods ${(ms / 1000).toFixed(1)} s`;
    rows.push({ benchmark: `agent by ${delivery}`, unit: 'MiB', median: bytes / MIB, notes });
    await running.remove();
  }
  return rows;
}

/** As a node pulls them; they are compressed for speed here. */
function archivesOfAgents(): Row[] {
  const directory = join(RUN, 'images');
  return readdirSync(directory)
    .filter((name) => name.includes('agent'))
    .map((name) => {
      const mib = statSync(join(directory, name)).size / MIB;
      return { benchmark: `image ${name}`, unit: 'MiB', median: mib };
    });
}
