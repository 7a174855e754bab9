/**
 * Compares restart times with times of a real kubelet (1.36.3, containerd), recorded as a range. Ours
 * is never slower if starting a container takes as long, and waits as long if a rule says how long to
 * wait.
 */

import type { Container, ContainerRestartRule, Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { afterEach, describe, expect, it } from 'vitest';
import type { BackoffSettings } from '../node/backoff.ts';
import type { TestNode } from '../node/test-node.fixture.ts';
import { nodeThatPlays, readRecording } from './recorded-pod.fixture.ts';

const RESTART_ALL: readonly ContainerRestartRule[] = [
  { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } },
];
/** While all containers restart, a container that ignores SIGTERM is killed after this time. */
const KILLED_AFTER_MS = 2_000;
const LIMIT_MS = 200_000;

const BARRIER: Partial<Container> = {
  startupProbe: {
    httpGet: { path: '/', port: 8080 },
    periodSeconds: 1,
    failureThreshold: 2_147_483_647,
  },
};

let node: TestNode;

afterEach(async () => {
  await node.stop();
});

function worker(rules = RESTART_ALL): Container {
  return {
    name: 'worker',
    image: 'busybox',
    command: ['sh'],
    restartPolicy: 'Never',
    restartPolicyRules: rules,
  };
}

function withSidecar(more: Partial<Container> = {}): Partial<PodSpec> {
  const side = { ...worker(), name: 'side', restartPolicy: 'Always' as const, ...more };
  return { initContainers: [side], containers: [worker()] };
}

/** Whether all containers run, with this restart count. */
function isRunning(pod: Pod | undefined, restarts: number): boolean {
  const { initContainerStatuses = [], containerStatuses = [] } = pod?.status ?? {};
  return (
    containerStatuses.length > 0 &&
    [...initContainerStatuses, ...containerStatuses].every(
      ({ state, restartCount }) => state?.running !== undefined && restartCount === restarts,
    )
  );
}

interface PodKind {
  readonly spec: Partial<PodSpec>;
  /** The container whose exit restarts all. */
  readonly source: string;
  readonly ignoresTerm?: string;
}

const KINDS: Readonly<Record<string, PodKind>> = {
  solo: { spec: { containers: [worker()] }, source: 'worker' },
  'sidecar-noprobe': { spec: withSidecar(), source: 'worker' },
  'sidecar-probe': { spec: withSidecar(BARRIER), source: 'worker' },
  'sidecar-probe-trigger-by-sidecar': { spec: withSidecar(BARRIER), source: 'side' },
  'sidecar-probe-sidecar-ignores-term': {
    spec: withSidecar(BARRIER),
    source: 'worker',
    ignoresTerm: 'side',
  },
  'sidecar-probe-trigger-by-sidecar-worker-ignores-term': {
    spec: withSidecar(BARRIER),
    source: 'side',
    ignoresTerm: 'worker',
  },
};

interface PodTimes {
  readonly kinds: Readonly<
    Record<
      string,
      { readonly rounds: number; readonly allRunningMs: readonly [least: number, most: number] }
    >
  >;
}

describe('timings-one-pod: all containers restart as quickly as under a kubelet', () => {
  it.each(Object.entries(readRecording<PodTimes>('timings-one-pod').kinds))(
    '%s',
    async (kind, { rounds, allRunningMs: [, mostMs] }) => {
      const { spec, source, ignoresTerm } = KINDS[kind] ?? { spec: {}, source: '' };
      const deaf = Array.from({ length: rounds + 1 }, () => [0, 137] as const);
      node = nodeThatPlays(ignoresTerm === undefined ? {} : { [ignoresTerm]: deaf });
      await node.start();
      await node.run(spec);
      for (let round = 0; round < rounds; round++) {
        await node.until((pod) => isRunning(pod, round));
        const begin = node.clock.monotonic();
        node.process(source).exit(42);
        await node.until((pod) => isRunning(pod, round + 1));
        const elapsedMs = node.clock.monotonic() - begin;
        expect(elapsedMs).toBeLessThanOrEqual(mostMs);
        if (ignoresTerm !== undefined) expect(elapsedMs).toBeGreaterThanOrEqual(KILLED_AFTER_MS);
      }
    },
  );
});

interface GroupTimes {
  readonly groups: Readonly<Record<string, { readonly allStartedMs: readonly number[] }>>;
}

/** The recorded groups by agent mode: as a sidecar, or as the only container. */
const groups = Object.entries(readRecording<GroupTimes>('timings-jobset-upstream').groups);

/** The least wait before the restart of a container in groups whose agent is the container. */
const WAITS_MS: Readonly<Record<string, readonly number[]>> = {
  'main-container-n4': [0, 10_000, 20_000, 40_000],
  'main-container-n4-maxContainerRestartPeriod1s': [0, 1_000, 1_000, 1_000],
  'main-container-n4-maxContainerRestartPeriod1s-EventedPLEG': [0, 1_000, 1_000, 1_000],
};

function podName(index: number): string {
  return `w${index}`;
}

function lastOf(index: number): Pod | undefined {
  return node.api.histories.get(podName(index))?.at(-1);
}

async function startGroup(
  size: number,
  spec: Partial<PodSpec>,
  backoff?: BackoffSettings,
): Promise<void> {
  node = nodeThatPlays({}, { backoff });
  await node.start();
  for (let index = 0; index < size; index++) await node.api.run(spec, undefined, podName(index));
  await node.clock.runUntil(() => isGroupRunning(size, 0), LIMIT_MS);
}

function isGroupRunning(size: number, restarts: number): boolean {
  return Array.from({ length: size }, (_, index) => lastOf(index)).every((pod) =>
    isRunning(pod, restarts),
  );
}

/** Ends a container of one Pod with the exit code that asks for a restart. */
function exit(index: number, container: string): void {
  const uid = lastOf(index)?.metadata.uid ?? '';
  const prefix = `${uid}/${container}/`;
  node.processes.running
    .find(({ command }) => command.env['LOCKSTEP_CONTAINER']?.startsWith(prefix))
    ?.exit(1);
}

describe('timings-jobset-upstream: a group restarts as quickly as under kubelets', () => {
  it.each(groups.filter(([kind]) => kind.startsWith('sidecar')))(
    '%s',
    async (kind, { allStartedMs }) => {
      const size = Number(/-n(\d+)/.exec(kind)?.[1]);
      await startGroup(size, withSidecar(BARRIER));
      for (const [round, mostMs] of allStartedMs.entries()) {
        const begin = node.clock.monotonic();
        exit(0, 'worker');
        // The other agents end once the first has come back and announced itself.
        await node.clock.runUntil(() => isRunning(lastOf(0), round + 1), LIMIT_MS);
        for (let index = 1; index < size; index++) exit(index, 'side');
        await node.clock.runUntil(() => isGroupRunning(size, round + 1), LIMIT_MS);
        expect(node.clock.monotonic() - begin).toBeLessThanOrEqual(mostMs);
      }
    },
  );

  it.each(groups.filter(([kind]) => kind.startsWith('main-container')))(
    '%s',
    async (kind, { allStartedMs }) => {
      const rule: ContainerRestartRule = {
        action: 'Restart',
        exitCodes: { operator: 'In', values: [1] },
      };
      const isShort = kind.includes('Period1s');
      const backoff = isShort ? { maxContainerRestartPeriodMs: 1_000 } : undefined;
      await startGroup(4, { containers: [worker([rule])] }, backoff);
      for (const [round, mostMs] of allStartedMs.entries()) {
        const begin = node.clock.monotonic();
        exit(0, 'worker');
        await node.clock.runUntil(() => isRunning(lastOf(0), round + 1), LIMIT_MS);
        for (let index = 1; index < 4; index++) exit(index, 'worker');
        await node.clock.runUntil(() => isGroupRunning(4, round + 1), LIMIT_MS);
        const elapsedMs = node.clock.monotonic() - begin;
        expect(elapsedMs).toBeLessThanOrEqual(mostMs);
        // The back-off comes twice in a row: for the first Pod, then for the others.
        expect(elapsedMs).toBeGreaterThanOrEqual(2 * (WAITS_MS[kind]?.[round] ?? 0));
      }
    },
  );
});
