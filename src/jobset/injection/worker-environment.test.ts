import { expect, test } from 'vitest';
import { mergeEnvironment } from './agent-environment.ts';
import { keptFromAgent, workerEnvironment } from './worker-environment.ts';

test('variables that an agent would obey have other names for it, which mean nothing', () => {
  const worker = {
    name: 'worker',
    command: ['sh', '-c', 'node $(NODE_OPTIONS) $$(NODE_OPTIONS) $(RANK) $NODE_OPTIONS'],
    args: ['$$$(NODE_OPTIONS)'],
    env: [
      { name: 'NODE_OPTIONS', value: '--inspect' },
      { name: 'LD_PRELOAD', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } },
      { name: 'RANK', value: '1' },
      { name: 'FLAGS', value: '$(NODE_OPTIONS) --x' },
    ],
  };
  expect(keptFromAgent(worker)).toEqual({
    name: 'worker',
    command: [
      'sh',
      '-c',
      'node $(LOCKSTEP_FOR_WORKER_NODE_OPTIONS) $$(NODE_OPTIONS) $(RANK) $NODE_OPTIONS',
    ],
    args: ['$$$(LOCKSTEP_FOR_WORKER_NODE_OPTIONS)'],
    env: [
      { name: 'LOCKSTEP_FOR_WORKER_NODE_OPTIONS', value: '--inspect' },
      {
        name: 'LOCKSTEP_FOR_WORKER_LD_PRELOAD',
        valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } },
      },
      { name: 'RANK', value: '1' },
      { name: 'FLAGS', value: '$(LOCKSTEP_FOR_WORKER_NODE_OPTIONS) --x' },
    ],
  });
});

test('a container that has nothing of the kind stays as it is', () => {
  const worker = { name: 'worker', env: [{ name: 'NODE_RANK', value: '$(NODE_OPTIONS)' }] };
  expect(keptFromAgent(worker)).toBe(worker);
});

test('a worker gets them back, and nothing of how they came', () => {
  const env = { PATH: '/bin', LOCKSTEP_FOR_WORKER_LD_PRELOAD: '/x.so', LD_PRELOAD: '/image.so' };
  expect(workerEnvironment(env)).toEqual({ PATH: '/bin', LD_PRELOAD: '/x.so' });
});

test('a worker sees no variable that is for its agent', () => {
  const added = [
    { name: 'POD_IP', value: '10.0.0.1' },
    { name: 'LOCKSTEP_HUB_URL', value: 'https://hub' },
  ];
  const own = [{ name: 'POD_IP', value: '10.0.0.1' }];
  const merged = mergeEnvironment(own, added).map(({ name, value = '' }) => [name, value]);
  const env = { PATH: '/bin', ...Object.fromEntries(merged) };
  expect(Object.keys(env)).toContain('LOCKSTEP_HUB_URL');
  expect(workerEnvironment(env)).toEqual({ PATH: '/bin', POD_IP: '10.0.0.1' });
});
