/** Where a container without namespaces finds its volumes. */

import type { VolumeMount } from '@lockstep/kube/objects/pod.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MountedVolume } from '../volume/pod-volumes.ts';
import { layOutRoot, type RootResult } from './container-root.ts';

const VOLUMES = new Map<string, MountedVolume>([
  ['data', { directory: '/pod/volumes/data', isShared: false }],
  ['info', { directory: '/pod/volumes/info', isShared: false }],
  ['host', { directory: '/srv', isShared: true }],
]);

type Mount = VolumeMount & { readonly subPathExpr?: string };

function layOut(...mounts: readonly Mount[]): RootResult {
  return layOutRoot('/root', mounts, VOLUMES, new Map([['POD', 'p-1']]));
}

function links(...mounts: readonly Mount[]): readonly string[] | string {
  const { layout, problem } = layOut(...mounts);
  return layout?.links.map(({ path, target }) => `${path} -> ${target}`) ?? problem ?? '';
}

describe('the root of a container', () => {
  it.each<[string, readonly Mount[], readonly string[] | string]>([
    ['a mount', [{ name: 'data', mountPath: '/data' }], ['/root/data -> /pod/volumes/data']],
    [
      'a slash at the end',
      [{ name: 'data', mountPath: '/a//b/' }],
      ['/root/a/b -> /pod/volumes/data'],
    ],
    ['dots', [{ name: 'data', mountPath: '/a/../../b/.' }], ['/root/b -> /pod/volumes/data']],
    [
      'a subPath, written out or expanded',
      [
        { name: 'data', mountPath: '/one', subPath: 'x/y' },
        { name: 'data', mountPath: '/two', subPathExpr: 'logs/$(POD)' },
      ],
      ['/root/one -> /pod/volumes/data/x/y', '/root/two -> /pod/volumes/data/logs/p-1'],
    ],
    [
      'a mount inside another',
      [
        { name: 'info', mountPath: '/data/info' },
        { name: 'data', mountPath: '/data' },
      ],
      ['/root/data -> /pod/volumes/data', '/pod/volumes/data/info -> /pod/volumes/info'],
    ],
    [
      'names that only begin alike',
      [
        { name: 'data', mountPath: '/data' },
        { name: 'info', mountPath: '/data2' },
      ],
      ['/root/data -> /pod/volumes/data', '/root/data2 -> /pod/volumes/info'],
    ],
    [
      'a mount inside a hostPath',
      [
        { name: 'host', mountPath: '/h' },
        { name: 'data', mountPath: '/h/x' },
      ],
      "mountPath /h/x: this node mounts nothing inside a hostPath or a claim's volume",
    ],
    [
      'an unknown volume',
      [{ name: 'no', mountPath: '/x' }],
      'volume "no" of a mount does not exist',
    ],
    ['the root itself', [{ name: 'data', mountPath: '/' }], 'mountPath "/": not usable'],
    [
      'a subPath that leads out',
      [{ name: 'data', mountPath: '/x', subPath: '../y' }],
      'subPath "../y": leads out',
    ],
  ])('with %s', (_, mounts, expected) => {
    expect(links(...mounts)).toEqual(expected);
  });

  it('leads paths below a mount through it, and no others', () => {
    const { layout } = layOut({ name: 'data', mountPath: '/data' });
    expect(
      ['/data', '/data/x', '/database', '/bin/sh', 'sh'].map((path) => layout?.resolve(path)),
    ).toEqual(['/root/data', '/root/data/x', '/database', '/bin/sh', 'sh']);
  });

  it('never makes a link outside the root and the volumes', () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'b');
    fc.assert(
      fc.property(fc.array(part), fc.array(part), (path, sub) => {
        const { layout } = layOut({
          name: 'data',
          mountPath: `/${path.join('/')}`,
          subPath: sub.join('/'),
        });
        for (const link of layout?.links ?? []) {
          expect(link.path).toMatch(/^\/root(\/[ab])+$/);
          expect(link.target).toMatch(/^\/pod\/volumes\/data/);
          expect(link.target.split('/')).not.toContain('..');
        }
      }),
    );
  });
});
