import { expect, test } from 'vitest';
import { agentResources, type ContainerResources } from './agent-resources.ts';

test.each<[string, ContainerResources | undefined, ContainerResources | undefined]>([
  ['a worker that asks for nothing stays of the least quality', undefined, undefined],
  ['devices are its own', { limits: { 'nvidia.com/gpu': '8' } }, undefined],
  [
    'requests alone',
    { requests: { cpu: '4', memory: '16Gi', 'nvidia.com/gpu': '8' } },
    { requests: { cpu: '20m', memory: '64Mi' } },
  ],
  [
    'limits alone are requests too',
    { limits: { cpu: '4', memory: '16Gi' } },
    { limits: { cpu: '200m', memory: '256Mi' } },
  ],
  [
    'a guaranteed worker stays guaranteed',
    { requests: { cpu: '4', memory: '16Gi' }, limits: { cpu: '4000m', memory: '16Gi' } },
    { requests: { cpu: '200m', memory: '256Mi' }, limits: { cpu: '200m', memory: '256Mi' } },
  ],
  [
    'a burstable one may be squeezed as its agent',
    { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '4', memory: '1Gi' } },
    { requests: { cpu: '20m', memory: '256Mi' }, limits: { cpu: '200m', memory: '256Mi' } },
  ],
])('%s', (_, resources, expected) => {
  const worker = { name: 'w', ...(resources === undefined ? {} : { resources }) };
  expect(agentResources(worker, undefined).resources).toEqual(expected);
});

test('an administrator may say what all agents ask for', () => {
  const configured = { limits: { memory: '100Mi' } };
  expect(agentResources({ name: 'w' }, configured)).toEqual({ resources: configured });
});
