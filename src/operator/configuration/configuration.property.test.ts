/**
 * What files mean, key by key, written down apart from the code: any keys together mean what each of
 * them means alone, and any wrong ones are reported together. A file that an operator accepted is
 * accepted by every later one, with the same settings.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { parseConfiguration } from './configuration.ts';

type Fields = Readonly<Record<string, unknown>>;

const HEAD = { apiVersion: 'config.jobset.x-k8s.io/v1alpha1', kind: 'Configuration' };

const DEFAULTS: Fields = {
  webhookBindAddress: { host: '::', port: 9443 },
  webhookService: 'lockstep-webhook-service',
  webhookSecretName: 'lockstep-webhook-server-cert',
  leaderElect: true,
  leaderElectionId: '6d4f6a47.jobset.x-k8s.io',
  leaseTimes: { leaseDurationMs: 4_000, renewDeadlineMs: 3_500, retryPeriodMs: 1_000 },
  metricsBindAddress: { host: '::', port: 8443 },
  metricsSecure: true,
  healthProbeBindAddress: { host: '::', port: 8081 },
  livenessEndpoint: 'healthz',
  readinessEndpoint: 'readyz',
  kubeApiQps: 500,
  kubeApiBurst: 500,
  tls: { minVersion: 'TLSv1.2' },
  featureGates: DEFAULT_FEATURE_GATES,
  maxJobs: 20_000,
  maxPods: 200_000,
  maxStreams: 32_768,
  unknownAnnotations: 'Refuse',
  onlyManaged: false,
  agentMode: 'Auto',
  agentInjection: 'Enabled',
  agentDelivery: 'Auto',
  agentRights: false,
};

/** Absent values, for every path whose value may be left out. */
const ABSENT = [[undefined, {}] as const, [null, {}] as const];
const EMPTY = ['', {}] as const;
const text = (name: string, ...values: readonly string[]) => [
  ...ABSENT,
  EMPTY,
  ...values.map((value) => [value, { [name]: value }] as const),
];
const value = (name: string, ...values: readonly unknown[]) => [
  ...ABSENT,
  ...values.map((one) => [one, { [name]: one }] as const),
];
const time = (name: string, ...times: readonly (readonly [string, number])[]) => [
  ...ABSENT,
  ...['0', '0s', '-0s'].map((none) => [none, {}] as const),
  ...times.map(([of, ms]) => [of, { leaseTimes: { [name]: ms } }] as const),
];
const address = (name: string) => [
  ...ABSENT,
  EMPTY,
  ['0', { [name]: 'off' }] as const,
  [':7001', { [name]: { host: '::', port: 7001 } }] as const,
  ['10.1.2.3:0', { [name]: { host: '10.1.2.3', port: 0 } }] as const,
  ['[fe80::1]:65535', { [name]: { host: 'fe80::1', port: 65_535 } }] as const,
];
const TLS13_SUITES = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

/** By path, each value that a file may have there, and what it changes. */
const KEYS: Readonly<Record<string, readonly (readonly [value: unknown, means: Fields])[]>> = {
  'webhook.port': [
    ...ABSENT,
    ...[1, 443, 65_535].map((port) => [port, { webhookBindAddress: { port } }] as const),
  ],
  'webhook.host': [
    ...ABSENT,
    EMPTY,
    ...['10.0.0.1', 'host.example', 'fe80::2'].map(
      (host) => [host, { webhookBindAddress: { host } }] as const,
    ),
  ],
  'leaderElection.leaderElect': value('leaderElect', true, false),
  'leaderElection.leaseDuration': time('leaseDurationMs', ['1m0s', 60_000], ['5.5s', 5_500]),
  'leaderElection.renewDeadline': time('renewDeadlineMs', ['3900ms', 3_900], ['+2.1s', 2_100]),
  'leaderElection.retryPeriod': time('retryPeriodMs', ['2s', 2_000], ['250ms', 250]),
  'leaderElection.resourceLock': [...ABSENT, EMPTY, ['leases', {}]],
  'leaderElection.resourceName': text('leaderElectionId', 'lock', 'a.b-c'),
  'leaderElection.resourceNamespace': text('leaderElectionNamespace', 'kube-system', '1'),
  'metrics.bindAddress': address('metricsBindAddress'),
  'metrics.secure': value('metricsSecure', true, false),
  'metrics.certDir': text('metricsCertDir', '/metrics'),
  'health.healthProbeBindAddress': address('healthProbeBindAddress'),
  'health.readinessEndpointName': text('readinessEndpoint', 'ready', 'A.b_c-1'),
  'health.livenessEndpointName': text('livenessEndpoint', 'live'),
  'internalCertManagement.webhookServiceName': text('webhookService', 'hooks'),
  'internalCertManagement.webhookSecretName': text('webhookSecretName', 'a.b'),
  'clientConnection.qps': value('kubeApiQps', 0.5, 20, -1),
  'clientConnection.burst': value('kubeApiBurst', 1, 2_147_483_647),
  tls: [
    ...ABSENT,
    [{ minVersion: '', cipherSuites: null }, {}],
    [{ minVersion: 'VersionTLS12', cipherSuites: [] }, {}],
    [{ minVersion: 'VersionTLS13' }, { tls: { minVersion: 'TLSv1.3' } }],
    [
      { cipherSuites: ['TLS_RSA_WITH_AES_256_CBC_SHA', 'TLS_AES_256_GCM_SHA384'] },
      { tls: { ciphers: `${TLS13_SUITES}:AES256-SHA` } },
    ],
  ],
  featureGates: [
    ...ABSENT,
    [{}, {}],
    [{ TLSOptions: true, RestartJob: false }, { featureGates: { RestartJob: false } }],
    [{ ElasticJobSet: true, InPlaceRestart: false }, { featureGates: { InPlaceRestart: false } }],
  ],
  'limits.maxJobs': value('maxJobs', 1, 100_000),
  'limits.maxPods': value('maxPods', 1, 1_000_000),
  'limits.maxStreams': value('maxStreams', 1, 262_144),
  unknownAnnotations: value('unknownAnnotations', 'Warn'),
  onlyManaged: value('onlyManaged', true),
  'agent.image': text('agentImage', 'registry.example:5000/agent:1'),
  'agent.mode': value('agentMode', 'Auto', 'Sidecar', 'Supervisor'),
  'agent.injection': value('agentInjection', 'Enabled', 'Disabled'),
  'agent.delivery': value('agentDelivery', 'Auto', 'Copy', 'ImageVolume', 'WorkerImage'),
  'agent.resources.requests': [
    [undefined, {}],
    [{ cpu: '10m' }, { agentResources: { requests: { cpu: '10m' } } }],
  ],
  'agent.resources.limits': [
    [undefined, {}],
    [
      { 'a.b/c': '1', memory: '1e9' },
      { agentResources: { limits: { 'a.b/c': '1', memory: '1e9' } } },
    ],
  ],
  'agent.channel': value('agentChannel', 'Auto', 'Hub', 'API'),
  'agent.rights': value('agentRights', true, false),
};

/** The operator reads certificates of others only if it makes none of its own. */
const CERTIFICATES: readonly (readonly [file: Fields, means: Fields])[] = [
  [{}, {}],
  [{ 'internalCertManagement.enable': true, 'webhook.certDir': '/certs' }, {}],
  [{ 'internalCertManagement.enable': null, 'webhook.certDir': '' }, {}],
  [
    { 'internalCertManagement.enable': false },
    { webhookCertDir: '/tmp/k8s-webhook-server/serving-certs' },
  ],
  [
    { 'internalCertManagement.enable': false, 'webhook.certDir': '/certs' },
    { webhookCertDir: '/certs' },
  ],
];

/** Wrong values of the right shape. Each is reported at every path. */
const WRONG: Readonly<Record<string, readonly [value: unknown, problem: string]>> = {
  'webhook.host': ['a b', 'webhook.host: Invalid value: "a b": must be an address'],
  'leaderElection.leaseDuration': ['15', 'leaderElection.leaseDuration: Invalid value: "15": must'],
  'metrics.bindAddress': [
    'x',
    'metrics.bindAddress: Invalid value: "x": expected host:port, :port',
  ],
  'health.healthProbeBindAddress': [
    ':99999',
    'health.healthProbeBindAddress: Invalid value: ":99999"',
  ],
  'health.livenessEndpointName': [
    '/a',
    'health.livenessEndpointName: Invalid value: "/a": must be one',
  ],
  'internalCertManagement.webhookSecretName': [
    'A',
    'internalCertManagement.webhookSecretName: Invalid',
  ],
  'clientConnection.qps': [0, 'clientConnection.qps: Invalid value: 0: must be greater than 0, or'],
  'tls.cipherSuites': [['TLS_NO'], 'tls.cipherSuites[0]: Unsupported value: "TLS_NO": supported'],
  'featureGates.Typo': [
    true,
    'featureGates: Unsupported value: "Typo": supported values: "InPlace',
  ],
  'featureGates.TLSOptions': [false, 'featureGates.TLSOptions: Invalid value: false: is locked to'],
  'agent.resources.limits.memory': [
    '1 GB',
    'agent.resources.limits[memory]: Invalid value: "1 GB"',
  ],
  'agent.resource': [{}, 'unknown key agent.resource'],
  'limits.maxNodes': [1, 'unknown key limits.maxNodes'],
};

/** A file with values at paths, in this order. */
function fileWith(values: Iterable<readonly [path: string, value: unknown]>): string {
  const file: Record<string, unknown> = { ...HEAD };
  for (const [path, one] of values) {
    if (one === undefined) continue;
    const steps = path.split('.');
    let at = file;
    for (const step of steps.slice(0, -1)) {
      at[step] ??= {};
      at = at[step] as Record<string, unknown>;
    }
    at[steps.at(-1) ?? ''] = one;
  }
  return stringify(file);
}

function merged(into: Fields, changes: Fields): Fields {
  const both = (name: string, change: unknown): unknown =>
    typeof change === 'object' && change !== null && !('host' in change && 'port' in change)
      ? { ...(into[name] as Fields | undefined), ...change }
      : change;
  const changed = Object.entries(changes).map(([name, one]) => [name, both(name, one)] as const);
  return { ...into, ...Object.fromEntries(changed) };
}

const anyKeys = fc
  .tuple(
    fc.tuple(
      ...Object.entries(KEYS).map(([path, values]) =>
        fc.constantFrom(...values).map(([one, means]) => ({ path, value: one, means })),
      ),
    ),
    fc.constantFrom(...CERTIFICATES),
  )
  .chain(([keys, [file, means]]) => {
    const certificates = Object.entries(file).map(([path, one]) => ({ path, value: one, means }));
    const all = [...keys, ...certificates];
    return fc.shuffledSubarray(all, { minLength: all.length });
  });

describe('keys of a Configuration', () => {
  it('mean together, in any order, what each of them means alone', () => {
    fc.assert(
      fc.property(anyKeys, (keys) => {
        const settings = keys.reduce((so, { means }) => merged(so, means), DEFAULTS);
        const parsed = parseConfiguration(fileWith(keys.map((key) => [key.path, key.value])));
        expect(parsed).toEqual({ settings });
      }),
      { numRuns: 150 },
    );
  });

  it('are all known here', () => {
    for (const [path, values] of Object.entries(KEYS))
      for (const [one, means] of values)
        expect(parseConfiguration(fileWith([[path, one]])), path).toEqual({
          settings: merged(DEFAULTS, means),
        });
  });

  it('are refused together, each with its path', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(Object.entries(WRONG), { minLength: 1 }), (wrong) => {
        const parsed = parseConfiguration(fileWith(wrong.map(([path, [one]]) => [path, one])));
        const problems = 'problems' in parsed ? parsed.problems : [];
        const expected = wrong.map(([, [, problem]]) => problem);
        expect(problems).toHaveLength(expected.length);
        for (const problem of expected)
          expect(problems).toContainEqual(expect.stringContaining(problem));
      }),
      { numRuns: 100 },
    );
  });
});
