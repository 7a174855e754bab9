/** A node in memory for one test, which ends with it and then has to leave nothing. */

import type { ContainerRestartRule } from '@lockstep/kube/objects/pod.ts';
import type {
  FakeProcess,
  FakeProgram,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { expect, onTestFinished } from 'vitest';
import { TestNode, type TestNodeOptions } from './test-node.fixture.ts';

/**
 * A program that runs until it is told to stop, one that ignores that, and one that ends at once.
 */
const PROGRAMS = {
  run: (): void => undefined,
  ignoreTerm: (self: FakeProcess): void => self.onSignal(() => undefined),
  exit0: (self: FakeProcess): void => self.exit(0),
};

const RESTART_ALL_ON_FAILURE: readonly ContainerRestartRule[] = [
  { action: 'RestartPod', exitCodes: { operator: 'NotIn', values: [0] } },
];
/** Containers whose failure restarts all. */
export const RESTARTING = {
  restartPolicy: 'Never',
  restartPolicyRules: RESTART_ALL_ON_FAILURE,
} as const;
export const SIDECAR = {
  restartPolicy: 'Always',
  restartPolicyRules: RESTART_ALL_ON_FAILURE,
} as const;

/** `before` prepares objects before the node starts; `programs` are added to `PROGRAMS`. */
export async function startNode(
  programs: Readonly<Record<string, FakeProgram>> = {},
  options: TestNodeOptions = {},
  before?: Parameters<TestNode['start']>[0],
): Promise<TestNode> {
  const node = new TestNode({ ...PROGRAMS, ...programs }, options);
  await node.start(before);
  onTestFinished(async () => {
    await node.stop();
    expect(node.processes.running).toEqual([]);
    expect(node.clock.pendingTimers).toBe(0);
    expect(node.files.paths.filter((path) => path.startsWith('/state/pods'))).toEqual([]);
    expect(node.logger.records.filter(({ level }) => level === 'error')).toEqual([]);
  });
  return node;
}
