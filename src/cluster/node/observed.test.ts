/**
 * Phases and conditions against recordings of a real kubelet (1.36.3): for every status that it wrote,
 * its container statuses must lead to its phase and its conditions.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Pod, PodCondition, PodPhase, PodSpec } from '../../kube/pod.ts';
import { podConditions } from './pod-conditions.ts';
import { phaseOf } from './pod-phase.ts';

interface Recording {
  readonly spec: PodSpec;
  readonly statuses: readonly {
    readonly phase: PodPhase;
    readonly conditions: readonly PodCondition[];
    readonly initContainerStatuses: readonly ContainerStatus[];
    readonly containerStatuses: readonly ContainerStatus[];
  }[];
}

const NOW = '2026-11-21T08:00:00Z';
const DIRECTORY = join(import.meta.dirname, 'testdata/observed');
const recordings = readdirSync(DIRECTORY).map((file) => {
  const recording: Recording = JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8'));
  return { name: file.replace('.json', ''), recording };
});

function conditionOf(
  status: Recording['statuses'][number],
  type: string,
): PodCondition | undefined {
  return status.conditions.find((condition) => condition.type === type);
}

/** The recordings have no times. */
function timed(conditions: readonly PodCondition[]): readonly PodCondition[] {
  return conditions.map((condition) => ({ ...condition, lastTransitionTime: NOW }));
}

/** With a sidecar that just started and nothing else, a kubelet says Pending for one status more. */
function isLate(spec: PodSpec, status: Recording['statuses'][number]): boolean {
  const sidecars = status.initContainerStatuses.filter(({ name }) =>
    spec.initContainers?.some((one) => one.name === name && one.restartPolicy === 'Always'),
  );
  return (
    status.phase === 'Pending' &&
    sidecars.some(({ started }) => started === true) &&
    status.containerStatuses.every(({ state }) => state?.waiting !== undefined)
  );
}

describe.each(recordings)('$name', ({ recording }) => {
  it.each(recording.statuses.map((status, index) => ({ index, status })))(
    'status $index',
    ({ index, status }) => {
      const { spec } = recording;
      const statuses = new Map(
        [...status.initContainerStatuses, ...status.containerStatuses].map((one) => [
          one.name,
          one,
        ]),
      );
      const ready = conditionOf(status, 'Ready');
      const hasEnded = ready?.reason === 'PodFailed' || ready?.reason === 'PodCompleted';
      const phase = phaseOf(spec, statuses, hasEnded);
      // A kubelet shows the verdict in the conditions first, and the phase when all is confirmed.
      if (hasEnded) expect(phase).toBe(ready.reason === 'PodFailed' ? 'Failed' : 'Succeeded');
      else if (!isLate(spec, status)) expect(phase).toBe(status.phase);

      const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec };
      const conditions = podConditions({
        pod,
        statuses,
        phase,
        isPrepared: conditionOf(status, 'PodReadyToStartContainers')?.status === 'True',
        preparationProblem: undefined,
        isRestartingAll: conditionOf(status, 'AllContainersRestarting')?.status === 'True',
        previous: timed(recording.statuses[index - 1]?.conditions ?? []),
        now: NOW,
      });
      expect(conditions).toEqual(timed(status.conditions));
    },
  );
});
