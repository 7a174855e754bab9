/** The words of a Pod's Event if its containers get no namespaces. */

import type { PodSpec, VolumeMount } from '@lockstep/kube/objects/pod.ts';
import { expect, it } from 'vitest';
import { missingNamespacesNote } from './missing-namespaces.ts';

function spec(mounts: readonly VolumeMount[], more: Partial<PodSpec> = {}): PodSpec {
  return { containers: [{ name: 'c', image: 'i', volumeMounts: mounts }], ...more };
}

const TOKEN = { name: 'kube-api-access-x', mountPath: '/var/run/secrets' };

it.each<[string, PodSpec, string | undefined]>([
  ['nothing is said of what every Pod has', spec([TOKEN]), undefined],
  [
    'paths of volumes are named, each once',
    spec([TOKEN, { name: 'd', mountPath: '/data' }], {
      initContainers: [{ name: 'i', volumeMounts: [{ name: 'd', mountPath: '/data' }] }],
    }),
    'containers have no namespaces here (off), so volumes are below $LOCKSTEP_ROOT, not at their paths: /data',
  ],
  [
    'names are mentioned to a Pod that has one',
    spec([], { subdomain: 's' }),
    'containers have no namespaces here (off), so names are in the file $LOCKSTEP_HOSTS, not in /etc/hosts',
  ],
])('%s', (_, of, expected) => {
  expect(missingNamespacesNote(of, 'off')).toBe(expected);
});

it('is bounded, however many volumes there are', () => {
  const mounts = Array.from({ length: 30 }, (_, i) => ({ name: 'v', mountPath: `/v${i}` }));
  expect(missingNamespacesNote(spec(mounts), 'off')).toMatch(/\/v9 and 20 more$/);
});
