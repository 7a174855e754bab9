/**
 * Kills a node agent before any one of its actions, and starts it again: the Pod's behaviour and
 * final status are as if nothing had happened.
 */

import { type Container, PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import {
  type FakeProgram,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { describe, expect, it } from 'vitest';
import { messagePair } from '../node-process/message-pair.fixture.ts';
import { ProcessHost } from '../node-process/process-host.ts';
import type { AgentMessage, KeeperMessage } from '../node-process/process-messages.ts';
import { RemoteKeeper } from '../node-process/remote-keeper.ts';
import { MACHINE_STREAMING } from './adapters/streaming.ts';
import { Life, READS } from './agent-life.fixture.ts';
import { MemoryFiles } from './memory/memory-files.ts';
import { startNodeAgent } from './node-agent.ts';
import { container, TestApi } from './test-api.fixture.ts';

const LIMIT_MS = 120_000;
/** Plays per scenario, at moments spread over its whole length. */
const MAX_PLAYS = Number(process.env['LOCKSTEP_CRASH_PLAYS'] ?? 12);
const TIMEOUT_MS = 60_000;
/** How long each program runs; long enough for the agent's next life to find it running. */
const RUN_MS = 1_000;

const RESTART_ALL: Partial<Container> = {
  restartPolicy: 'Never',
  restartPolicyRules: [
    { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } },
  ],
};

/** Succeeds in the second run of its container. */
const PROBE = 'probes';

interface Scenario {
  readonly spec: Partial<Pod['spec']>;
  /** When the Pod is deleted, if it is. */
  readonly deletedAtMs?: number;
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'containers that restart together': {
    spec: {
      initContainers: [
        container('prepare', 'succeeds'),
        container('side', 'serves', { restartPolicy: 'Always' }),
      ],
      containers: [
        container('main', 'fails first', RESTART_ALL),
        container('helper', 'serves then ends'),
      ],
    },
  },
  'a container that is restarted alone': {
    spec: { restartPolicy: 'OnFailure', containers: [container('main', 'fails first')] },
  },
  'a Pod that fails': {
    spec: { containers: [container('main', 'fails'), container('other', 'succeeds')] },
  },
  'a container that its startup probe gives up': {
    spec: {
      initContainers: [container('side', 'serves', { restartPolicy: 'Always' })],
      containers: [
        container('main', 'serves then ends', {
          restartPolicy: 'Never',
          restartPolicyRules: [
            { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } },
          ],
          startupProbe: { exec: { command: [PROBE] }, periodSeconds: 1, failureThreshold: 1 },
        }),
      ],
    },
  },
  'a Pod that is deleted while it runs': {
    spec: {
      terminationGracePeriodSeconds: 3,
      initContainers: [container('side', 'serves', { restartPolicy: 'Always' })],
      containers: [container('main', 'is stubborn'), container('other', 'serves')],
    },
    deletedAtMs: 500,
  },
};

describe.each(Object.entries(SCENARIOS))('%s', (_, scenario) => {
  it(
    'ends in the same way whenever the agent is killed',
    async () => {
      const calm = await play(scenario, Number.POSITIVE_INFINITY);
      expect(calm.steps).toBeGreaterThan(10);
      const stride = Math.ceil(calm.steps / MAX_PLAYS);
      for (let step = 1; step <= calm.steps; step += stride) {
        const { outcome } = await play(scenario, step);
        expect(outcome, `killed before step ${step}`).toEqual(calm.outcome);
      }
    },
    TIMEOUT_MS,
  );
});

async function play(scenario: Scenario, killedBefore: number) {
  const world = new World();
  await world.start(killedBefore);
  await world.api.run(scenario.spec);
  if (scenario.deletedAtMs !== undefined) {
    await world.clock.advance(scenario.deletedAtMs);
    await world.api.client.delete(PODS, { namespace: 'default', name: 'p' });
  }
  await world.untilOver(scenario.deletedAtMs !== undefined);
  return { steps: world.steps, outcome: world.outcome() };
}

/** What outlives the agent: the API, the disk, the processes and their keeper. */
class World {
  readonly clock = new VirtualClock();
  readonly api = new TestApi(this.clock, new SeededRandom(2));
  readonly files = new MemoryFiles();
  readonly runner = new MemoryProcessRunner(programs(this.clock));
  readonly host = new ProcessHost(this.runner);
  /** The number of actions in the agent's first life. */
  steps = 0;

  async start(killedBefore: number): Promise<void> {
    await this.api.start();
    const life = new Life(() => {
      this.steps++;
      if (this.steps < killedBefore) return true;
      this.host.disconnect();
      // The next one starts at once, as under a supervisor.
      queueMicrotask(() => void this.#begin(new Life(() => true)));
      return false;
    });
    void this.#begin(life);
  }

  async untilOver(isDeleted: boolean): Promise<void> {
    const isOver = (): boolean => {
      const { pod } = this.api;
      if (isDeleted) return pod === undefined && this.api.history.length > 0;
      return pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
    };
    await this.clock.runUntil(isOver, LIMIT_MS);
    await this.clock.advance(RUN_MS);
  }

  outcome() {
    const containers = this.runner.started.filter(({ command }) => command.argv[0] !== PROBE);
    const starts = containers.map(({ command }) => {
      return command.env['LOCKSTEP_CONTAINER']?.split('/').slice(1).join('/') ?? '';
    });
    const { status } = this.api.pod ?? {};
    const statuses = [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
    ];
    return {
      starts: starts.toSorted(),
      phase: status?.phase,
      containers: statuses.map(({ name, restartCount, state, lastState }) => ({
        name,
        restartCount,
        exitCode: state?.terminated?.exitCode,
        reason: state?.terminated?.reason,
        last: lastState?.terminated?.exitCode,
      })),
      running: this.runner.running.length,
      checkpoints: this.files.paths.filter((path) => /\/(checkpoints|pods)\//.test(path)),
    };
  }

  async #begin(life: Life): Promise<void> {
    const [agent, keeper] = messagePair<AgentMessage, KeeperMessage>();
    this.host.connect(keeper);
    const remote = life.bound(new RemoteKeeper(agent));
    await startNodeAgent({
      name: 'n1',
      client: life.bound(this.api.client, ['get', 'list', 'watch']),
      clock: life.clock(this.clock),
      random: new SeededRandom(1),
      logger: SILENT,
      processes: remote,
      keeper: remote,
      files: life.bound(this.files, READS),
      probes: { get: unused, connect: unused, health: unused },
      streaming: MACHINE_STREAMING,
      rootDirectory: '/state',
      network: { type: 'own-addresses', hostIP: '127.9.0.1', podCIDR: '127.9.0.0/16' },
      kubeletPort: 10_250,
      apiServer: { host: '127.0.0.1', port: 6443 },
      path: '/bin',
      machine: {
        capacity: { cpu: '4', memory: '8Gi', pods: '100' },
        architecture: 'amd64',
        operatingSystem: 'linux',
        kernelVersion: '6',
      },
    });
  }
}

function programs(clock: Clock): Readonly<Record<string, FakeProgram>> {
  const after = (act: () => void): void => void clock.setTimer(RUN_MS, act);
  const runOf = (mark: string | undefined): number => Number(mark?.split('/').at(-1));
  return {
    succeeds: (self) => after(() => self.exit(0)),
    fails: (self) => after(() => self.exit(3)),
    serves: () => undefined,
    'serves then ends': (self) => {
      const mark = self.command.env['LOCKSTEP_CONTAINER'];
      if (runOf(mark) > 0) after(() => self.exit(0));
    },
    'fails first': (self) => {
      const mark = self.command.env['LOCKSTEP_CONTAINER'];
      after(() => self.exit(runOf(mark) === 0 ? 42 : 0));
    },
    [PROBE]: (self) => self.exit(runOf(self.command.env['LOCKSTEP_CONTAINER']) > 0 ? 0 : 1),
    'is stubborn': (self) => self.onSignal(() => undefined),
  };
}

function unused(): never {
  throw new Error('nothing is probed');
}
