import { expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import type { Stored } from '../../kube/meta.ts';
import type { Pod } from '../../kube/pod.ts';
import { memberTable } from './member-table.ts';

function pod(index: number, annotations: Readonly<Record<string, string>> = {}): Stored<Pod> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `train-w-0-${index}`,
      namespace: 'default',
      uid: `uid-${index}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'jobset.sigs.k8s.io/replicatedjob-name': 'w' },
      annotations: { 'batch.kubernetes.io/job-completion-index': String(index), ...annotations },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'train-w-0', uid: 'job', controller: true },
      ],
    },
    spec: { nodeName: `node-${index}`, containers: [] },
    status: { phase: 'Running' },
  };
}

it('shows each member in order, with what the newer channel says', () => {
  const pods = [pod(10), pod(2, { 'jobset.sigs.k8s.io/epoch': '1' }), pod(0)];
  const table = memberTable(jobSetWith(1, 2, 7), pods, [
    { pod: 'train-w-0-0', epoch: 2, channel: 'Hub' },
    {
      pod: 'train-w-0-10',
      epoch: 2,
      channel: 'Hub',
      cause: { epoch: 1, end: { signal: 'SIGKILL' } },
    },
  ]);
  expect(table.split('\n').slice(-6)).toEqual([
    '',
    'MEMBER        POD           NODE     PHASE    EPOCH  CHANNEL  LAST CAUSE',
    'train-w-0/0   train-w-0-0   node-0   Running  2      Hub      -',
    'train-w-0/2   train-w-0-2   node-2   Running  1      API      -',
    'train-w-0/10  train-w-0-10  node-10  Running  2      Hub      killed by SIGKILL in epoch 1',
    '',
  ]);
});

it('shows what annotations say where nobody could ask the hub', () => {
  const annotations = {
    'jobset.sigs.k8s.io/epoch': '2',
    'lockstep/notice': '{"epoch":1,"exitCode":7}',
  };
  const table = memberTable(jobSetWith(1, 1, 7), [pod(0, annotations), pod(1)], undefined);
  expect(table).toContain('epoch 2, waits for its members at the barrier');
  expect(table).toContain('2      API      exited with 7 in epoch 1');
  expect(table).toContain('train-w-0-1  node-1  Running  -      -        -');
});
