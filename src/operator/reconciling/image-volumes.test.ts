import type { KubeList, KubeObject, Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { ListOptions } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { failure } from '@lockstep/kube/status.ts';
import { expect, test } from 'vitest';
import type { JobSetSpec } from '../../jobset/jobset.ts';
import { NODE_ANSWER_LIFETIME_MS } from '../tracking/node-answers.ts';
import { createImageVolumes } from './image-volumes.ts';

type Pages = readonly (readonly string[])[];

/** Answers with kubelets, one page each; `1.36 containerd://2.0.5` names the runtime, too. */
class Cluster extends MemoryClient {
  pages: Record<string, Pages> = {};
  refusal: Error | undefined;

  override async list<T extends KubeObject>(
    _of: Resource<T>,
    { labelSelector = '', continue: token = '0' }: ListOptions = {},
  ): Promise<KubeList<Stored<T>>> {
    this.calls.push(`LIST ${labelSelector} ${token}`);
    if (this.refusal !== undefined) throw this.refusal;
    const pages = this.pages[labelSelector] ?? [];
    const next = Number(token) + 1;
    const metadata = next < pages.length ? { continue: `${next}` } : {};
    const items = (pages[Number(token)] ?? []).map((node) => {
      const [kubeletVersion, containerRuntimeVersion] = node.split(' ');
      return { metadata: {}, status: { nodeInfo: { kubeletVersion, containerRuntimeVersion } } };
    });
    return { apiVersion: 'v1', kind: 'NodeList', metadata, items } as unknown as KubeList<
      Stored<T>
    >;
  }
}

const { signal } = new AbortController();

function specOf(...selectors: readonly StringMap[]): JobSetSpec {
  return {
    replicatedJobs: selectors.map((nodeSelector, i) => ({
      name: `w${i}`,
      template: { spec: { template: { spec: { containers: [], nodeSelector } } } },
    })),
  };
}

test.each<[string, Pages, boolean]>([
  ['all of 1.36 or later', [['v1.36.0', 'v1.37.2-gke.1'], ['v2.0.0']], true],
  ['one older, on a later page', [['v1.36.0'], ['v1.35.9']], false],
  ['a runtime that is too old', [['v1.36.0 containerd://2.0.5']], false],
  ['runtimes that can', [['v1.36.0 containerd://2.1.0', 'v1.36.1 cri-o://1.36.0']], true],
  ['none yet', [[]], false],
  ['one that does not say', [['']], false],
])('nodes: %s', async (_, pages, expected) => {
  const client = new Cluster();
  client.pages = { '': pages };
  const volumes = createImageVolumes(client, new VirtualClock());
  expect(await volumes.suit(specOf({}), signal)).toBe(expected);
});

test('only the nodes that its Pods may use count, and each set is read now and then', async () => {
  const client = new Cluster();
  client.pages = { '': [['v1.35.0']], 'pool=new': [['v1.36.0']], 'pool=old': [['v1.35.0']] };
  const clock = new VirtualClock();
  const volumes = createImageVolumes(client, clock);
  expect(await volumes.suit(specOf({ pool: 'new' }), signal)).toBe(true);
  expect(await volumes.suit(specOf({ pool: 'new' }, { pool: 'old' }), signal)).toBe(false);
  expect(client.calls).toEqual(['LIST pool=new 0', 'LIST pool=old 0']);
  client.pages = { 'pool=new': [['v1.35.0']] };
  await clock.advance(NODE_ANSWER_LIFETIME_MS);
  expect(await volumes.suit(specOf({ pool: 'new' }), signal)).toBe(false);
});

test('nodes that may not be read do not suit; a server that fails is asked again', async () => {
  const client = new Cluster();
  const volumes = createImageVolumes(client, new VirtualClock());
  client.refusal = failure('ServiceUnavailable', 'later');
  await expect(volumes.suit(specOf({}), signal)).rejects.toThrow('later');
  client.refusal = failure('Forbidden', 'nodes is forbidden');
  expect(await volumes.suit(specOf({}), signal)).toBe(false);
});
