/** The hostname that a Pod gets, and the names that Linux does not take. */

import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import { expect, it } from 'vitest';
import { hostnameOf } from './pod-hostname.ts';

const named = (name: string, spec: Partial<PodSpec> = {}): string =>
  hostnameOf({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name },
    spec: { containers: [], ...spec },
  });

it.each<[string, string, Partial<PodSpec>, string]>([
  ['the name of the Pod', 'web-0', {}, 'web-0'],
  ['cut to a label of the DNS', 'a'.repeat(62) + '-bc', {}, 'a'.repeat(62)],
  ['what it asks for', 'web-0', { hostname: 'first', subdomain: 'svc' }, 'first'],
  [
    'its full name',
    'web-0',
    { hostname: 'first', subdomain: 'svc', setHostnameAsFQDN: true },
    'first.svc.ns.svc.cluster.local',
  ],
  ['without a subdomain there is none', 'web-0', { setHostnameAsFQDN: true }, 'web-0'],
  ['another one altogether', 'web-0', { hostnameOverride: 'db.example.com' }, 'db.example.com'],
])('the host name of a Pod is %s', (_, name, spec, expected) => {
  expect(named(name, spec)).toBe(expected);
});

it('a full name that Linux does not take is reported in the words of a kubelet', () => {
  const spec = { subdomain: 's'.repeat(40), setHostnameAsFQDN: true };
  expect(() => named('web-0', spec)).toThrow(
    `Failed to construct FQDN from Pod hostname and cluster domain, FQDN web-0.${spec.subdomain}.ns.svc.cluster.local is too long (64 characters is the max, 67 characters requested)`,
  );
});
