import type { Container } from '@lockstep/kube/objects/pod.ts';
import {
  addQuantities,
  formatQuantity,
  parseQuantity,
  quantityOf,
} from '@lockstep/kube/quantity.ts';
import { expect, test } from 'vitest';
import { type ContainerResources, shareResources } from './agent-resources.ts';

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
  expect(shareResources(workerWith(resources), {}).agent.resources).toEqual(expected);
});

test.each<[string, ContainerResources]>([
  ['requests', { requests: { cpu: '1', memory: '1Gi', 'nvidia.com/gpu': '1' } }],
  ['limits', { limits: { cpu: '1500m', memory: '2Gi', 'ephemeral-storage': '1G' } }],
  ['both', { requests: { cpu: '40m', memory: '128Mi' }, limits: { cpu: '1', memory: '1Gi' } }],
  ['equal', { requests: { cpu: '800m', memory: '1Gi' }, limits: { cpu: '0.8', memory: '1Gi' } }],
])('the sums of a Pod stay what its template says: %s', (_, resources) => {
  const { agent, worker, onTop } = shareResources(workerWith(resources), {});
  expect(onTop).toBeUndefined();
  for (const list of ['requests', 'limits'] as const) {
    for (const [name, amount] of Object.entries(resources[list] ?? {})) {
      const all = [worker, agent].map((one) => parseQuantity(one.resources?.[list]?.[name] ?? '0'));
      const sum = all.reduce((a, b) => addQuantities(a ?? ZERO, b ?? ZERO), ZERO) ?? ZERO;
      expect(sum.nano, `${list} ${name}: ${formatQuantity(sum)}`).toBe(parseQuantity(amount)?.nano);
    }
  }
});

test.each<[string, ContainerResources, ContainerResources, RegExp]>([
  [
    'whole CPUs of a guaranteed container',
    { requests: { cpu: '4', memory: '16Gi' }, limits: { cpu: '4', memory: '16Gi' } },
    { requests: { cpu: '200m', memory: '256Mi' }, limits: { cpu: '200m', memory: '256Mi' } },
    /whole CPUs/,
  ],
  [
    'the same, said by limits alone',
    { limits: { cpu: '4', memory: '16Gi' } },
    { limits: { cpu: '200m', memory: '256Mi' } },
    /whole CPUs/,
  ],
  [
    'a request that is too small',
    { requests: { cpu: '30m', memory: '16Gi' } },
    { requests: { cpu: '20m', memory: '64Mi' } },
    /30m cpu.*20m/,
  ],
  [
    'a limit that is too small',
    { limits: { memory: '512Mi' } },
    { limits: { memory: '256Mi' } },
    /512Mi memory.*256Mi/,
  ],
  ['nothing at all', { requests: { cpu: '0' } }, { requests: { cpu: '20m' } }, /too little/],
])('what the worker cannot spare stays on top: %s', (_, resources, share, why) => {
  const given = workerWith(resources);
  const { agent, worker, onTop } = shareResources(given, {});
  expect(worker).toEqual(given);
  expect(agent.resources).toEqual(share);
  expect(onTop).toMatch(why);
});

test('no container falls below what a LimitRange demands, the agent included', () => {
  const given = workerWith({ requests: { cpu: '510m', memory: '1Gi' } });
  const { agent, worker, onTop } = shareResources(given, { minimums: { cpu: '500m' } });
  expect(worker).toEqual(given);
  expect(agent.resources).toEqual({ requests: { cpu: '500m', memory: '64Mi' } });
  expect(onTop).toMatch(/less than the 500m of cpu that a LimitRange demands/);
  const { worker: able } = shareResources(workerWith({ requests: { cpu: '1' } }), {
    minimums: { cpu: '500m' },
  });
  expect(able.resources).toEqual({ requests: { cpu: '500m' } });
});

test('where LimitRanges are not known, workers keep what they have', () => {
  const given = workerWith({ requests: { cpu: '4' } });
  const { worker, onTop } = shareResources(given, { minimums: 'Unknown' });
  expect(worker).toEqual(given);
  expect(onTop).toMatch(/LimitRange/);
});

test('an administrator may say what all agents ask for', () => {
  const configured = { limits: { memory: '100Mi' } };
  expect(shareResources(workerWith(undefined), { resources: configured })).toEqual({
    agent: { resources: configured },
    worker: workerWith(undefined),
    onTop: undefined,
  });
});

test('where a quota may ask for more than the administrator says, the agent states it', () => {
  const resources = { requests: { cpu: '5m' }, limits: { memory: '32Mi' } };
  const asked = { requests: { cpu: '1', memory: '1Gi' } };
  const { agent, worker } = shareResources(workerWith(asked), { resources });
  // A request is never above its limit.
  expect(agent.resources).toEqual({
    requests: { cpu: '5m', memory: '32Mi' },
    limits: { memory: '32Mi' },
  });
  expect(worker.resources).toEqual({ requests: { cpu: '995m', memory: '992Mi' } });
});

const ZERO = quantityOf(0, 'DecimalSI');

function workerWith(resources: ContainerResources | undefined): Container {
  return { name: 'w', ...(resources === undefined ? {} : { resources }) };
}
