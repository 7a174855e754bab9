/**
 * The Kubernetes under test: the embedded one, or the cluster of the kubeconfig in
 * `LOCKSTEP_TEST_KUBECONFIG`, which `npm run test:kubernetes` sets. This file has the one list of
 * exceptions for a real one; everything else passes on both.
 */
import { delimiter, join } from 'node:path';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Mode } from '../src/bench/worker-group.ts';

/**
 * Directories of the control planes that were started for the tests, if any: each worker of the
 * test runner has its own, which its tests may damage.
 */
const CONTROL_PLANES = process.env['LOCKSTEP_TEST_CONTROL_PLANES']?.split(delimiter) ?? [];
/** The runner numbers its workers from 1. */
const WORKER = Number(process.env['VITEST_POOL_ID'] ?? 1) - 1;

export const CONTROL_PLANE: string | undefined = CONTROL_PLANES[WORKER % CONTROL_PLANES.length];

/** The directory of a run with real nodes, if the tests are to run there: `npm run test:node`. */
export const NODE_RUN: string | undefined = process.env['LOCKSTEP_TEST_NODE'];

/** An administrator's kubeconfig of a real Kubernetes, if the tests are to run on one. */
export const KUBERNETES: string | undefined = kubeconfig();

function kubeconfig(): string | undefined {
  if (NODE_RUN !== undefined) return join(NODE_RUN, 'control-plane/kubeconfig');
  if (CONTROL_PLANE !== undefined) return join(CONTROL_PLANE, 'kubeconfig');
  return process.env['LOCKSTEP_TEST_KUBECONFIG'];
}

/** An address that is not loopback, in a network that the tests have to themselves. */
export const ADDRESS: string | undefined = process.env['LOCKSTEP_TEST_ADDRESS'];

/** The minor version of the control planes that were started for the tests. */
const MINOR = Number(
  process.env['LOCKSTEP_TEST_KUBERNETES_VERSION']?.split('.')[1] ?? Number.POSITIVE_INFINITY,
);

/** How many suites can run at a time, each with its own Kubernetes. */
export const KUBERNETES_COUNT: number = Math.max(1, CONTROL_PLANES.length);

/** Exceptions for single tests. */
export const EXCEPTIONS = {
  /** It has only a control plane, which provides no volumes. */
  storageIsProvidedByHand: KUBERNETES !== undefined,
  /**
   * Nodes of a killed command would keep their names until their leases expire, and block the next
   * suite.
   */
  commandIsNotKilled: KUBERNETES !== undefined,
  /** `lockstep up` joins it with nodes in its own process, which cannot fail one by one. */
  nodesAreNotProcesses: KUBERNETES !== undefined,
  /** Before 1.35 no node restarts all containers of a Pod, so agents can only supervise. */
  podsAreNotRestarted: MINOR < 35,
  /** Before 1.35 its API server drops or refuses restart rules and policies of containers. */
  apiKnowsNoRestartRules: MINOR < 35,
  /** Its API server refuses Lockstep's own actions in restart rules. */
  apiKnowsNoTerminate: KUBERNETES !== undefined,
  /** A kubelet removes containers, and their logs, when it restarts all containers of a Pod. */
  logsOfEarlierRunsGo: NODE_RUN !== undefined,
  /** A URL reaches one replica of webhooks. */
  replicasAreCalledOneByOne: KUBERNETES !== undefined,
  /**
   * Other parts of the operator have the rights of the manifest there in `e2e/install.test.ts`, so
   * that what groups use is not all.
   */
  onlyGroupsHaveRights: KUBERNETES !== undefined,
  /** Minutes and hours last as long as they do. */
  timeIsReal: KUBERNETES !== undefined,
};

/** Suites below `test/` for the embedded cluster only, and why. */
export const EMBEDDED_ONLY: Readonly<Record<string, string>> = {
  'e2e/documented-commands.test.ts': 'Pages are about `lockstep up` as they show it.',
  'e2e/first-look.test.ts':
    'The page is about `lockstep up`, which provides the volume of the example.',
  'integration/agent-protocol.test.ts':
    'The API server goes away for minutes, and a JobSet of the same name comes in the same instant.',
  'integration/bad-nodes.test.ts':
    'Hours of failures of 256 members, whose windows and counts depend on the instant.',
  'integration/culprits.test.ts':
    'Compares instants of deaths, reports and writes to the millisecond.',
  'integration/dialects.test.ts':
    '`neighbours/dialects.test.ts` does the same on a real one, with agents of upstream.',
  'integration/exclusive-placement.test.ts':
    'Its webhooks answer in memory, and one places wrongly on order. `e2e/exclusive-placement.test.ts` runs them on a real one.',
  'integration/goodput.test.ts': 'Accounts for each second of hours.',
  'integration/hub.test.ts':
    'Operators die between two messages, and agents are cut off for minutes, on a network in memory.',
  'integration/images.test.ts': 'Is about files, and takes minutes to write them.',
  'integration/lost-node.test.ts':
    'Deadlines of minutes to an hour for a node whose Lease nobody renews.',
  'integration/not-starting.test.ts': 'Counts reads in each ten seconds of ten minutes.',
  'integration/operator-restart.test.ts':
    'Ten minutes without a write, failures at the instant of a release, and a server that is slow on order.',
  'integration/operator-stages.test.ts':
    'Pods fail over and over, with the back-off of the Job controller, which takes minutes.',
  'integration/own-controller.test.ts':
    'Shows the door `in-memory` of the embedded cluster to other projects.',
  'integration/ranks.test.ts':
    'Looks at what agents hear of each write, with operators of two versions one after the other.',
  'integration/run-metrics.test.ts': 'Compares gauges with the clock, over minutes.',
  'integration/worker-end-forms.test.ts': 'Is about texts, and reaches no API server.',
};

const IS_FOR_UP = 'Is about `lockstep up`, which gives a cluster its nodes.';

/** Suites below `test/e2e/` that do not run on the real nodes of `npm run test:node`, and why. */
export const NOT_ON_NODES: Readonly<Record<string, string>> = {
  'changed-settings.test.ts':
    'Makes Pods of an operator beside the one that is installed there, in the same roles.',
  'demo.test.ts': IS_FOR_UP,
  'documented-commands.test.ts': IS_FOR_UP,
  'examples.test.ts': 'Needs four nodes in two racks, and a volume that `lockstep up` provides.',
  'exclusive-placement.test.ts': 'Needs eight nodes in four racks.',
  'first-look.test.ts': IS_FOR_UP,
  'hang.test.ts':
    'Its workers are programs of Bash, which no image there has; `node/worker-ends.test.ts` has a hang.',
  'helm-chart.test.ts': 'Is about texts, and reaches no node.',
  'helm-release.test.ts': 'Needs Helm, which is built for `npm run test:kubernetes`.',
  'install.test.ts':
    'Takes minutes of rolling updates; suites of `node/` install, upgrade and remove Lockstep.',
  'keep-failed.test.ts':
    'kubectl finds no log of a restarted container there; `node/worker-ends.test.ts` reads the files.',
  'kubectl-exec.test.ts': 'Is about streams of the embedded node, which others test in a kubelet.',
  'kubectl.test.ts': 'Is about what kubectl shows of the embedded API server, and uses its paths.',
  'lost-node-deadline.test.ts': 'Needs three nodes, and takes away power from them.',
  'node-failure.test.ts':
    'Takes away power by `lockstep node`; `node/two-nodes.test.ts` loses a real node.',
  'node-features.test.ts': 'Starts a control plane of its own, without nodes.',
  'operator-restart.test.ts': 'Kills the operator that `lockstep up` has started as a process.',
  'package.test.ts': 'Is about files, and starts a cluster of its own.',
  'services.test.ts': 'Stands for the network of Services, which is a real one there.',
  'standby.test.ts':
    'Knows processes by marks of the embedded node; `node/standby.test.ts` has standbys.',
  'suspend.test.ts':
    'Is about what the Job controller decides, and that one is real in `npm run test:kubernetes` too.',
  'up-and-down.test.ts': IS_FOR_UP,
};

/** The version that was recorded; others differ by what was added since. */
const RECORDED_VERSION = 'v1.36.3';

/** Why a cluster cannot be compared with recordings; undefined if it can. */
export async function unlikeRecorded(client: Client): Promise<string | undefined> {
  const { gitVersion } = (await client.getPath('/version')) as { readonly gitVersion: string };
  if (gitVersion === RECORDED_VERSION) return undefined;
  return `it is ${gitVersion}, and the recordings are of ${RECORDED_VERSION}`;
}

/** The agent modes that can run there; those that work with any image come first. */
export const AGENT_MODES: readonly [Mode, ...Mode[]] = EXCEPTIONS.podsAreNotRestarted
  ? ['Supervisor']
  : ['Sidecar', 'Supervisor'];
