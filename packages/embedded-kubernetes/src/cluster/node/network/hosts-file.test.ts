/** The text of hosts files, of a namespace and of a Pod with aliases. */

import type { Service } from '@lockstep/kube/objects/core.ts';
import { describe, expect, it } from 'vitest';
import { type HostsEntry, hostsFile, withHostAliases } from './hosts-file.ts';

function entry(
  name: string,
  address: string,
  more: { ready?: boolean; ports?: [number, number][]; subdomain?: string } = {},
): HostsEntry {
  return {
    address,
    ports: new Map(more.ports ?? []),
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${name}-x7f2p`, namespace: 'ns', labels: { set: 's' } },
      spec: { containers: [], hostname: name, subdomain: more.subdomain ?? 'svc' },
      status: { conditions: [{ type: 'Ready', status: more.ready === false ? 'False' : 'True' }] },
    },
  };
}

function service(spec: Service['spec']): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'svc', namespace: 'ns' },
    spec: { clusterIP: 'None', selector: { set: 's' }, ...spec },
  };
}

function lines(entries: readonly HostsEntry[], services: readonly Service[]): readonly string[] {
  return hostsFile(entries, services).trimEnd().split('\n').slice(1);
}

describe('the hosts file of a namespace', () => {
  it('has the names of Pods that a headless Service selects', () => {
    expect(lines([entry('w-1', '127.1.0.3'), entry('w-0', '127.1.0.2')], [service({})])).toEqual([
      '127.1.0.2\tw-0.svc.ns.svc.cluster.local w-0.svc.ns.svc w-0.svc w-0',
      '127.1.0.3\tw-1.svc.ns.svc.cluster.local w-1.svc.ns.svc w-1.svc w-1',
    ]);
  });

  it.each<[string, readonly HostsEntry[], readonly Service[], number]>([
    ['a Pod that is not ready', [entry('w', '1', { ready: false })], [service({})], 0],
    [
      'one that is published all the same',
      [entry('w', '1', { ready: false })],
      [service({ publishNotReadyAddresses: true })],
      1,
    ],
    ['a Pod of another subdomain', [entry('w', '1', { subdomain: 'other' })], [service({})], 0],
    ['no Service', [entry('w', '1')], [], 0],
    ['a Service with an address', [entry('w', '1')], [service({ clusterIP: '10.0.0.1' })], 0],
    ['a Service that selects others', [entry('w', '1')], [service({ selector: { set: 't' } })], 0],
    ['a Service that selects nothing', [entry('w', '1')], [service({ selector: {} })], 0],
  ])('with %s', (_, entries, services, count) => {
    const own = '1\tw';
    const found = lines(entries, services).filter((line) => line !== own);
    expect(found).toHaveLength(count);
    expect(lines(entries, services).every((line) => line.split(/[\t ]/).includes('w'))).toBe(true);
  });

  it('tells ports where the address is shared', () => {
    expect(lines([entry('w', '127.0.0.1', { ports: [[80, 40001]] })], [service({})])[0]).toMatch(
      / w\.svc w # ports 80=40001$/,
    );
  });
});

it('the file of a Pod with aliases has them last, as a kubelet writes them', () => {
  const { pod } = entry('w', '1');
  const hostAliases = [{ ip: '10.1.2.3', hostnames: ['db', 'db.example.com'] }, { ip: '10.1.2.4' }];
  const text = withHostAliases('127.0.0.1\tlocalhost\n', {
    ...pod,
    spec: { ...pod.spec, hostAliases },
  });
  expect(text).toBe(
    '127.0.0.1\tlocalhost\n\n# Entries added by HostAliases.\n10.1.2.3\tdb\tdb.example.com\n10.1.2.4\n',
  );
});
