import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { podErrors } from './pod.ts';
import { defaultPod } from './pod-defaults.ts';

function problems(container: JsonObject, list = 'containers'): readonly string[] {
  const pod = defaultPod({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: {
      containers: [{ name: 'a', image: 'i' }],
      [list]: [{ name: 'x', image: 'i', ...container }],
    },
  }) as Pod;
  return podErrors(pod).map(formatFieldError);
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const EXEC = { exec: { command: ['true'] } };

/** Problems of any of the three probes, below the probe. */
const REFUSED: readonly (readonly [name: string, probe: JsonObject, problem: string])[] = [
  ['no handler', {}, ': Required value: must specify a handler type'],
  [
    'two handlers',
    { ...EXEC, grpc: { port: 1 } },
    '.grpc: Forbidden: may not specify more than 1 handler type',
  ],
  ['no command', { exec: { command: [] } }, '.exec.command: Required value'],
  [
    'port 0',
    { httpGet: { port: 0 } },
    '.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive',
  ],
  [
    'a name of a port that is none',
    { tcpSocket: { port: 'a_b' } },
    '.tcpSocket.port: Invalid value: "a_b": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
  ],
  [
    'a port of gRPC beyond the last',
    { grpc: { port: 65_536 } },
    '.grpc.port: Invalid value: 65536: must be between 1 and 65535, inclusive',
  ],
  [
    'a header that is none',
    { httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: '' }] } },
    ".httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
  ],
  ...(['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'failureThreshold'] as const).map(
    (field) =>
      [
        `a negative ${field}`,
        { ...EXEC, [field]: -1 },
        `.${field}: Invalid value: -1: must be greater than or equal to 0`,
      ] as const,
  ),
];

describe.each(PROBES)('a %s', (kind) => {
  it.each(REFUSED)('is refused with %s', (_, probe, problem) => {
    expect(problems({ [kind]: probe })).toEqual([`spec.containers[0].${kind}${problem}`]);
  });

  it('may ask for any of the handlers', () => {
    const handlers = [
      EXEC,
      { httpGet: { port: 'web', scheme: 'HTTPS', httpHeaders: [{ name: 'X-A', value: 'b' }] } },
      { tcpSocket: { port: 80 } },
      { grpc: { port: 80, service: 's' } },
    ];
    expect(handlers.flatMap((handler) => problems({ [kind]: handler }))).toEqual([]);
  });

  it('belongs to a sidecar, and to no other init container', () => {
    const field = `spec.initContainers[0].${kind}`;
    expect(problems({ [kind]: EXEC, restartPolicy: 'Always' }, 'initContainers')).toEqual([]);
    expect(problems({ [kind]: EXEC, restartPolicy: 'OnFailure' }, 'initContainers')).toEqual([
      `${field}: Forbidden: may not be set for init containers without restartPolicy=Always`,
    ]);
  });
});

describe.each(['livenessProbe', 'startupProbe'] as const)('a %s', (kind) => {
  it('is decided by one success', () => {
    expect(problems({ [kind]: { ...EXEC, successThreshold: 2 } })).toEqual([
      `spec.containers[0].${kind}.successThreshold: Invalid value: 2: must be 1`,
    ]);
  });

  it('may have a grace period of its own, above 0', () => {
    expect(problems({ [kind]: { ...EXEC, terminationGracePeriodSeconds: 1 } })).toEqual([]);
    expect(problems({ [kind]: { ...EXEC, terminationGracePeriodSeconds: 0 } })).toEqual([
      `spec.containers[0].${kind}.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`,
    ]);
  });
});

describe('a readinessProbe', () => {
  it('may want several successes, and has no grace period', () => {
    expect(problems({ readinessProbe: { ...EXEC, successThreshold: 2 } })).toEqual([]);
    const readinessProbe = { ...EXEC, terminationGracePeriodSeconds: 1 };
    expect(problems({ readinessProbe })).toEqual([
      'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes',
    ]);
  });
});

describe('lifecycle hooks', () => {
  it('belong to a sidecar, and to no other init container', () => {
    const lifecycle = { postStart: EXEC };
    expect(problems({ lifecycle, restartPolicy: 'Always' }, 'initContainers')).toEqual([]);
    expect(problems({ lifecycle }, 'initContainers')).toEqual([
      'spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
    ]);
  });

  it.each([-1, 31])('do not sleep for %d of 30 seconds of grace', (seconds) => {
    expect(problems({ lifecycle: { preStop: { sleep: { seconds } } } })).toEqual([
      `spec.containers[0].lifecycle.preStop.sleep: Invalid value: ${seconds}: must be non-negative and less than terminationGracePeriodSeconds (30)`,
    ]);
  });
});
