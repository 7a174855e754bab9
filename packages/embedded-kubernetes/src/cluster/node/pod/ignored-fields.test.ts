/** Which fields of a Pod the node ignores, and what it says of them. */

import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { defaultPod } from '../../../api-machinery/validation/pod/pod-defaults.ts';
import { ignoredFields, ignoredFieldsNote } from './ignored-fields.ts';

function specOf(spec: JsonObject, container: JsonObject = {}): Pod['spec'] {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a', image: 'i', ...container }], ...spec },
  };
  return (defaultPod(pod) as Pod).spec;
}

describe('what a Pod asks for in vain', () => {
  it.each<[name: string, spec: JsonObject, container: JsonObject, fields: readonly string[]]>([
    ['nothing, with all defaults', {}, {}, []],
    ['nothing that the node does anyway', { hostNetwork: true, hostPID: true }, {}, []],
    [
      'users and capabilities',
      { securityContext: { runAsUser: 1 } },
      { securityContext: { privileged: true } },
      ['securityContext', 'containers[a].securityContext'],
    ],
    [
      'limits, of which the requests count',
      {},
      { resources: { limits: { memory: '1Gi' }, requests: { cpu: '1' } } },
      ['containers[a].resources.limits'],
    ],
    [
      'protection of a mount',
      { volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }] },
      {
        volumeMounts: [
          { name: 'v', mountPath: '/v', readOnly: true, mountPropagation: 'None' },
          { name: 'v', mountPath: '/w' },
        ],
      },
      [
        'volumes[v].emptyDir.medium',
        'volumes[v].emptyDir.sizeLimit',
        'containers[a].volumeMounts[/v].readOnly',
      ],
    ],
    [
      'ports of the host',
      {},
      { ports: [{ containerPort: 80, hostPort: 80 }, { containerPort: 81 }] },
      ['containers[a].ports[80].hostPort'],
    ],
    [
      'none of those on the network of the host',
      { hostNetwork: true },
      { ports: [{ containerPort: 80 }] },
      [],
    ],
    [
      'names and users of its own',
      { hostnameOverride: 'h', dnsConfig: { searches: ['a'] }, hostUsers: false },
      {},
      ['dnsConfig', 'hostnameOverride', 'hostUsers'],
    ],
    [
      'the same in an init container',
      { initContainers: [{ name: 'i', image: 'i', lifecycle: { stopSignal: 'SIGINT' } }] },
      {},
      ['initContainers[i].lifecycle.stopSignal'],
    ],
    [
      'nothing, as a container that is added beside others does',
      { volumes: [{ name: 'token', projected: { sources: [] } }] },
      {
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
        },
        volumeMounts: [{ name: 'token', mountPath: '/t', readOnly: true }],
      },
      [],
    ],
  ])('%s', (_, spec, container, fields) => {
    expect(ignoredFields(specOf(spec, container), false)).toEqual(fields);
  });

  it('is reported in one text of bounded length', () => {
    const volumeMounts = Array.from({ length: 30 }, (__, i) => ({
      name: 'v',
      mountPath: `/${i}`,
      readOnly: true,
    }));
    const note = ignoredFieldsNote(specOf({ volumes: [{ name: 'v' }] }, { volumeMounts }), false);
    expect(note).toMatch(
      /^this node runs containers as processes .*: containers\[a\].volumeMounts\[\/0\].readOnly, /,
    );
    expect(note).toMatch(/ and 10 more$/);
    expect(ignoredFieldsNote(specOf({}), false)).toBeUndefined();
  });

  it('is less where containers have namespaces: what may not be written is not', () => {
    const volumeMounts = [{ name: 'v', mountPath: '/v', readOnly: true }];
    expect(ignoredFields(specOf({ volumes: [{ name: 'v' }] }, { volumeMounts }), true)).toEqual([]);
  });
});
