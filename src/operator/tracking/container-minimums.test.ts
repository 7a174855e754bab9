import type { KubeList, KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { LimitRange } from '@lockstep/kube/objects/core.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { failure } from '@lockstep/kube/status.ts';
import { expect, test } from 'vitest';
import { containerMinimums } from './container-minimums.ts';

type Limits = NonNullable<NonNullable<LimitRange['spec']>['limits']>;

class Namespace extends MemoryClient {
  answer: () => readonly Limits[] = () => [];
  more: object = {};

  override async list<T extends KubeObject>(): Promise<KubeList<Stored<T>>> {
    const items = this.answer().map((limits) => ({ metadata: {}, spec: { limits } }));
    const list = { apiVersion: 'v1', kind: 'LimitRangeList', metadata: this.more, items };
    return list as unknown as KubeList<Stored<T>>;
  }
}

function ask(client: Namespace) {
  return containerMinimums(client, 'ns', new AbortController().signal);
}

test('the largest minimum of containers counts', async () => {
  const client = new Namespace();
  expect(await ask(client)).toEqual({});
  client.answer = () => [
    [
      { type: 'Container', min: { cpu: '100m', memory: '1Gi' } },
      { type: 'Pod', min: { cpu: '4' } },
      { type: 'Container' },
    ],
    [{ type: 'Container', min: { cpu: '0.5', memory: '900Mi' } }],
  ];
  expect(await ask(client)).toEqual({ cpu: '0.5', memory: '1Gi' });
});

test('what may not be read, or not wholly, is not known', async () => {
  const client = new Namespace();
  client.more = { continue: 'there is more' };
  expect(await ask(client)).toBe('Unknown');
  client.answer = () => {
    throw failure('Forbidden', 'limitranges is forbidden');
  };
  expect(await ask(client)).toBe('Unknown');
});

test('where there is no such kind, nothing is demanded', async () => {
  const client = new Namespace();
  client.answer = () => {
    throw failure('NotFound', 'the server could not find the requested resource');
  };
  expect(await ask(client)).toEqual({});
});

test('a server that fails is asked again', async () => {
  const client = new Namespace();
  client.answer = () => {
    throw failure('ServiceUnavailable', 'later');
  };
  await expect(ask(client)).rejects.toThrow('later');
});
