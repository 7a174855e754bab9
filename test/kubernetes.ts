/**
 * The Kubernetes under test: the embedded one, or the one of the kubeconfig in
 * `LOCKSTEP_TEST_KUBECONFIG`, which `npm run test:kubernetes` sets. Here is the one list of where a
 * real one is treated otherwise; whatever is not on it passes on both.
 */
import { delimiter, join } from 'node:path';
import type { Mode } from '../src/bench/worker-group.ts';
import type { Client } from '../src/runtime/client/client.ts';

/**
 * Where the control planes that were started for the tests keep their state, if any were: each worker
 * of the test runner has one of its own, which its tests may hurt.
 */
const CONTROL_PLANES = process.env['LOCKSTEP_TEST_CONTROL_PLANES']?.split(delimiter) ?? [];
/** Whom the runner numbers from 1. */
const WORKER = Number(process.env['VITEST_POOL_ID'] ?? 1) - 1;

export const CONTROL_PLANE: string | undefined = CONTROL_PLANES[WORKER % CONTROL_PLANES.length];

/** An administrator's kubeconfig of a real Kubernetes, if the tests are to run on one. */
export const KUBERNETES: string | undefined =
  CONTROL_PLANE === undefined
    ? process.env['LOCKSTEP_TEST_KUBECONFIG']
    : join(CONTROL_PLANE, 'kubeconfig');

/** One that is not loopback, in a network that the tests have to themselves. */
export const ADDRESS: string | undefined = process.env['LOCKSTEP_TEST_ADDRESS'];

/** Of those that were started for the tests. */
const VERSION: string | undefined = process.env['LOCKSTEP_TEST_KUBERNETES_VERSION'];

/** How many suites can run at a time, each with a Kubernetes of its own. */
export const KUBERNETES_COUNT: number = Math.max(1, CONTROL_PLANES.length);

/** What single tests have to do otherwise there. */
export const EXCEPTIONS = {
  /** It has a control plane and nothing that provides volumes. */
  storageIsProvidedByHand: KUBERNETES !== undefined,
  /** Its Nodes would keep their names for the life of a lease, and the next suite be refused. */
  commandIsNotKilled: KUBERNETES !== undefined,
  /** `lockstep up` joins it with nodes in its own process, which cannot fail one by one. */
  nodesAreNotProcesses: KUBERNETES !== undefined,
  /** Before 1.35 no node restarts all containers of a Pod, so that agents can only supervise. */
  podsAreNotRestarted: VERSION?.startsWith('1.34.') === true,
  /** Its API server refuses the actions of restart rules that are ours. */
  apiKnowsNoTerminate: KUBERNETES !== undefined,
};

const VIRTUAL_TIME = 'Moves a virtual clock, by which the API server and the nodes live too.';

/** Suites below `test/` that are of the embedded cluster only, and why. */
export const EMBEDDED_ONLY: Readonly<Record<string, string>> = {
  'e2e/documented-commands.test.ts': 'Pages are about `lockstep up` as they show it.',
  'integration/agent-crashes.test.ts': VIRTUAL_TIME,
  'integration/agent-protocol.test.ts': VIRTUAL_TIME,
  'integration/confined-operator.test.ts': VIRTUAL_TIME,
  'integration/dialects.test.ts': VIRTUAL_TIME,
  'integration/exclusive-placement.test.ts': VIRTUAL_TIME,
  'integration/hostile-tenant.test.ts': VIRTUAL_TIME,
  'integration/hub.test.ts': VIRTUAL_TIME,
  'integration/images.test.ts': 'Is about files, and takes minutes to write them.',
  'integration/least-privilege.test.ts': VIRTUAL_TIME,
  'integration/lost-node.test.ts': VIRTUAL_TIME,
  'integration/migration.test.ts': VIRTUAL_TIME,
  'integration/operator-crash.test.ts': VIRTUAL_TIME,
  'integration/operator-restart.test.ts': VIRTUAL_TIME,
  'integration/operator-stages.test.ts': VIRTUAL_TIME,
  'integration/operator-strategies.test.ts': VIRTUAL_TIME,
  'integration/outside-the-group.test.ts': VIRTUAL_TIME,
  'integration/reconciliation.test.ts': VIRTUAL_TIME,
  'integration/repeated-actions.test.ts': VIRTUAL_TIME,
  'integration/webhooks.test.ts': VIRTUAL_TIME,
};

/** What recordings were made of; others differ by what was added since. */
const RECORDED_VERSION = 'v1.36.3';

/** Why a Kubernetes of this client cannot be held against recordings, if it cannot. */
export async function unlikeRecorded(client: Client): Promise<string | undefined> {
  const { gitVersion } = (await client.getPath('/version')) as { readonly gitVersion: string };
  if (gitVersion === RECORDED_VERSION) return undefined;
  return `it is ${gitVersion}, and the recordings are of ${RECORDED_VERSION}`;
}

/** Which agents can run there, those of any image first. */
export const AGENT_MODES: readonly [Mode, ...Mode[]] = EXCEPTIONS.podsAreNotRestarted
  ? ['Supervisor']
  : ['Sidecar', 'Supervisor'];
