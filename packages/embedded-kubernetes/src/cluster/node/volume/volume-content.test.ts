/** What the files of a volume hold, by its source. */

import type { Pod, Volume } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import type { ConfigurationSource } from './configuration-source.ts';
import { volumeContent } from './volume-content.ts';

const metadata = { name: 'x' };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', labels: { b: '2', a: 'one "1"' } },
  spec: { containers: [{ name: 'c', resources: { limits: { memory: '64Mi' } } }] },
};
const facts = {
  pod,
  podIP: '127.1.0.2',
  hostIP: '127.1.0.1',
  nodeName: 'n1',
  allocatable: { cpu: '8' },
};
const CLAIMS = ['data', 'new', 'block'];
const source: ConfigurationSource = {
  configMap: (name) =>
    name === 'map'
      ? {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata,
          data: { k: 'v' },
          binaryData: { b: '/w==' },
        }
      : undefined,
  claim: (name) =>
    CLAIMS.includes(name)
      ? {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name },
          status: { phase: name === 'new' ? 'Pending' : 'Bound' },
          spec: { volumeMode: name === 'block' ? 'Block' : 'Filesystem' },
        }
      : undefined,
  secret: (name) =>
    name === 'keys'
      ? { apiVersion: 'v1', kind: 'Secret', metadata, data: { s: 'czM=' } }
      : undefined,
};

function content(volume: Omit<Volume, 'name'>): unknown {
  const result = volumeContent({ name: 'v', ...volume }, facts, source);
  if (result.type === 'problem') return result.message;
  if (result.type !== 'files') return result;
  return {
    ...Object.fromEntries(
      result.files.map(({ path, bytes, mode }) => [
        path,
        `${Buffer.from(bytes).toString('latin1')} ${mode.toString(8)}`,
      ]),
    ),
    ...Object.fromEntries(
      result.tokens.map(({ path, expirationSeconds }) => [path, expirationSeconds]),
    ),
  };
}

describe('a volume', () => {
  it.each<[string, Omit<Volume, 'name'>, unknown]>([
    ['emptyDir', { emptyDir: {} }, { type: 'directory' }],
    ['hostPath', { hostPath: { path: '/srv' } }, { type: 'host', path: '/srv', demand: undefined }],
    [
      'hostPath that must be there',
      { hostPath: { path: '/srv', type: 'Directory' } },
      { type: 'host', path: '/srv', demand: expect.objectContaining({ isMade: false }) },
    ],
    ['all keys of a ConfigMap', { configMap: { name: 'map' } }, { k: 'v 644', b: '\xff 644' }],
    [
      'some keys of a Secret, at paths and with modes',
      { secret: { secretName: 'keys', defaultMode: 0o400, items: [{ key: 's', path: 'a/b' }] } },
      { 'a/b': 's3 400' },
    ],
    ['an optional Secret that is not there', { secret: { secretName: 'no', optional: true } }, {}],
    ['a ConfigMap that is not there', { configMap: { name: 'no' } }, 'configmap "no" not found'],
    [
      'a key that is not there',
      { configMap: { name: 'map', items: [{ key: 'z', path: 'z' }] } },
      'references non-existent configmap key: z',
    ],
    [
      'a path that leads out',
      { configMap: { name: 'map', items: [{ key: 'k', path: '../k' }] } },
      'path "../k": leads out of the volume',
    ],
    [
      'fields of the Pod',
      { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      { labels: 'a="one \\"1\\""\nb="2" 644' },
    ],
    [
      'resources of its containers, with a mode of each file',
      {
        downwardAPI: {
          defaultMode: 0o600,
          items: [
            {
              path: 'memory',
              resourceFieldRef: { containerName: 'c', resource: 'limits.memory', divisor: '1Mi' },
              mode: 0o400,
            },
            { path: 'cpu', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } },
            { path: 'asked', resourceFieldRef: { containerName: 'c', resource: 'requests.cpu' } },
          ],
        },
      },
      { memory: '64 400', cpu: '8 600', asked: '0 600' },
    ],
    [
      'a resource of no container',
      {
        downwardAPI: {
          items: [{ path: 'x', resourceFieldRef: { containerName: 'z', resource: 'limits.cpu' } }],
        },
      },
      'container z has no resource limits.cpu',
    ],
    [
      'a projection of several sources',
      {
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
            { configMap: { name: 'map', items: [{ key: 'k', path: 'ca.crt' }] } },
            {
              downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] },
            },
          ],
        },
      },
      { token: 3607, 'ca.crt': 'v 644', name: 'p 644' },
    ],
    [
      'a claim',
      { persistentVolumeClaim: { claimName: 'data' } },
      { type: 'claim', claim: source.claim('data') },
    ],
    [
      'a claim that is not there',
      { persistentVolumeClaim: { claimName: 'no' } },
      'persistentvolumeclaim "no" not found',
    ],
    [
      'a claim that has no volume yet',
      { persistentVolumeClaim: { claimName: 'new' } },
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    [
      'a claim of a block device',
      { persistentVolumeClaim: { claimName: 'block' } },
      'persistentvolumeclaim "block" is of volumeMode Block: this node has directories only',
    ],
    [
      'a kind that is not offered',
      JSON.parse('{"nfs": {"server": "s", "path": "/"}}'),
      'this node offers no volumes nfs',
    ],
    [
      'a projection that is not offered',
      JSON.parse('{"projected": {"sources": [{"clusterTrustBundle": {"path": "ca"}}]}}'),
      'this node offers no projections clusterTrustBundle',
    ],
  ])('of %s', (_, volume, expected) => {
    expect(content(volume)).toEqual(expected);
  });
});
