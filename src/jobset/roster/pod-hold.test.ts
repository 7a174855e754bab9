import type { PodStatus } from '@lockstep/kube/objects/pod.ts';
import { expect, it } from 'vitest';
import { podHold } from './pod-hold.ts';

const CONTAINER = { name: 'w', ready: false, restartCount: 0, image: '', imageID: '' };
const UNSCHEDULED = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  message: '0/3 nodes are available',
} as const;

function waiting(reason: string, message?: string): PodStatus {
  const state = { waiting: { reason, ...(message === undefined ? {} : { message }) } };
  return { containerStatuses: [{ ...CONTAINER, state }] };
}

it.each<[PodStatus, object | undefined]>([
  [{}, undefined],
  [{ phase: 'Running', containerStatuses: [{ ...CONTAINER, state: { running: {} } }] }, undefined],
  [waiting('ContainerCreating'), undefined],
  [waiting('PodInitializing'), undefined],
  [
    waiting('ErrImagePull', 'not found'),
    { reason: 'ErrImagePull', container: 'w', message: 'not found' },
  ],
  [waiting('CreateContainerError'), { reason: 'CreateContainerError', container: 'w' }],
  [{ conditions: [UNSCHEDULED] }, { reason: 'Unschedulable', message: '0/3 nodes are available' }],
  [{ conditions: [{ ...UNSCHEDULED, status: 'True' }] }, undefined],
  [{ phase: 'Failed', reason: 'Evicted' }, { reason: 'Evicted' }],
])('of %j it says %j', (status, hold) => {
  expect(podHold({ metadata: {}, spec: { containers: [] }, status } as never)).toEqual(hold);
});

it('cuts what is too long', () => {
  const hold = podHold({ metadata: {}, status: waiting('X', 'x'.repeat(5000)) } as never);
  expect(hold?.message?.length).toBeLessThanOrEqual(1024);
});
