import { describe, expect, it } from 'vitest';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { parseConfiguration } from './configuration.ts';

const HEAD = 'apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n';

function settings(text: string) {
  const parsed = parseConfiguration(HEAD + text);
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'));
  return parsed.settings;
}

function problems(text: string): readonly string[] {
  const parsed = parseConfiguration(text);
  return 'problems' in parsed ? parsed.problems : [];
}

describe('a Configuration', () => {
  it('has the defaults of the API for all that it does not say', () => {
    const defaults = {
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
      maxJobs: 20_000,
      maxPods: 200_000,
      maxStreams: 32_768,
      unknownAnnotations: 'Refuse',
      onlyManaged: false,
      tls: { minVersion: 'TLSv1.2' },
      featureGates: DEFAULT_FEATURE_GATES,
      agentMode: 'Auto',
      agentInjection: 'Enabled',
      agentDelivery: 'Auto',
      agentRights: false,
    };
    expect(settings('')).toEqual(defaults);
    const empty = `
webhook: { host: "", certDir: "" }
leaderElection: { resourceName: "", resourceNamespace: "", leaseDuration: 0s }
metrics: { bindAddress: "", certDir: "" }
health: {}
agent: { image: "" }
`;
    expect(settings(empty)).toEqual(defaults);
  });

  it('says everything that upstream’s can say, and what agents are', () => {
    expect(
      settings(`
webhook: { port: 443, host: 10.0.0.1, certDir: /certs }
leaderElection:
  leaderElect: false
  leaseDuration: 1m0s
  renewDeadline: 40s
  retryPeriod: 5s
  resourceLock: leases
  resourceName: lock
  resourceNamespace: kube-system
metrics: { bindAddress: ":9090", certDir: /metrics, secure: false }
health:
  healthProbeBindAddress: "0"
  readinessEndpointName: ready
  livenessEndpointName: live
internalCertManagement: { enable: false, webhookServiceName: hooks, webhookSecretName: certs }
clientConnection: { qps: 20.5, burst: 30 }
limits: { maxPods: 1000000 }
tls:
  minVersion: VersionTLS12
  cipherSuites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384]
featureGates: { TLSOptions: true, RestartJob: false }
agent:
  image: registry/agent:1
  mode: Supervisor
  injection: Disabled
  delivery: ImageVolume
  resources: { requests: { cpu: 10m }, limits: { memory: 100Mi } }
  channel: API
  rights: true
`),
    ).toEqual({
      webhookBindAddress: { host: '10.0.0.1', port: 443 },
      webhookCertDir: '/certs',
      webhookService: 'hooks',
      webhookSecretName: 'certs',
      leaderElect: false,
      leaderElectionId: 'lock',
      leaderElectionNamespace: 'kube-system',
      leaseTimes: { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 5_000 },
      metricsBindAddress: { host: '::', port: 9090 },
      metricsSecure: false,
      metricsCertDir: '/metrics',
      healthProbeBindAddress: 'off',
      livenessEndpoint: 'live',
      readinessEndpoint: 'ready',
      kubeApiQps: 20.5,
      kubeApiBurst: 30,
      maxJobs: 20_000,
      maxPods: 1_000_000,
      maxStreams: 32_768,
      unknownAnnotations: 'Refuse',
      onlyManaged: false,
      tls: {
        minVersion: 'TLSv1.2',
        ciphers:
          'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256',
      },
      featureGates: { ...DEFAULT_FEATURE_GATES, RestartJob: false },
      agentImage: 'registry/agent:1',
      agentMode: 'Supervisor',
      agentInjection: 'Disabled',
      agentDelivery: 'ImageVolume',
      agentResources: { requests: { cpu: '10m' }, limits: { memory: '100Mi' } },
      agentChannel: 'API',
      agentRights: true,
    });
  });

  it('takes what Go writes for values that are left out', () => {
    const written = `
leaderElection: { leaderElect: null, leaseDuration: 0s, renewDeadline: 0s, retryPeriod: 0s,
  resourceLock: "", resourceName: "", resourceNamespace: "" }
webhook: { host: "", certDir: "" }
metrics: {}
health: null
clientConnection: null
internalCertManagement: { enable: null, webhookServiceName: null }
tls: { minVersion: "", cipherSuites: null }
featureGates: null
`;
    expect(settings(written)).toEqual(settings(''));
  });

  it.each<[string, string, readonly string[]]>([
    ['unknown keys', 'webhok: {}\nwebhook: { prot: 1 }\n', ['unknown key webhok', 'webhook.prot']],
    ['duplicate keys', 'webhook: {}\nwebhook: {}\n', ['Map keys must be unique']],
    ['text that is no YAML', 'webhook: [\n', ['line']],
    ['a port out of range', 'webhook: { port: 70000 }', ['webhook.port', '70000', '65535']],
    ['a wrong type', 'leaderElection: { leaderElect: "yes" }', ['leaderElection.leaderElect']],
    ['a duration without a unit', 'leaderElection: { leaseDuration: "15" }', ['leaseDuration']],
    [
      'times in no order',
      'leaderElection: { leaseDuration: 3s }',
      ['leaderElection.leaseDuration', 'must exceed renewDeadline'],
    ],
    ['another lock', 'leaderElection: { resourceLock: configmaps }', ['resourceLock', 'leases']],
    ['an address without a port', 'metrics: { bindAddress: localhost }', ['metrics.bindAddress']],
    [
      'a path for a name',
      'health: { readinessEndpointName: /readyz }',
      ['health.readinessEndpointName', 'without a slash'],
    ],
    [
      'a Service that cannot be',
      'internalCertManagement: { webhookServiceName: A.b }',
      ['internalCertManagement.webhookServiceName', 'DNS-1035'],
    ],
    [
      'more Jobs than a JobSet can have',
      'limits: { maxJobs: 100001 }',
      ['limits.maxJobs', '100001'],
    ],
    ['no Pods at all', 'limits: { maxPods: 0 }', ['limits.maxPods', '0']],
    ['no requests at all', 'clientConnection: { qps: 0 }', ['clientConnection.qps']],
    [
      'an old version of TLS',
      'tls: { minVersion: VersionTLS11 }',
      ['tls.minVersion', '"VersionTLS12"'],
    ],
    ['an unknown suite', 'tls: { cipherSuites: [TLS_NO] }', ['tls.cipherSuites[0]', 'TLS_NO']],
    [
      'suites for TLS 1.3',
      'tls: { minVersion: VersionTLS13, cipherSuites: [TLS_AES_256_GCM_SHA384] }',
      ['tls.cipherSuites', 'must be empty'],
    ],
    ['an unknown gate', 'featureGates: { toString: true }', ['featureGates', 'InPlaceRestart']],
    ['a locked gate', 'featureGates: { TLSOptions: false }', ['featureGates.TLSOptions', 'locked']],
    [
      'an amount that is none',
      'agent: { resources: { limits: { memory: 1 GB } } }',
      ['agent.resources.limits[memory]', '"1 GB"', 'quantities must match'],
    ],
    ['an alias of nothing', 'agent: *nothing', ['Unresolved alias', 'nothing']],
    [
      'aliases of aliases',
      `a: &a [1]\n${Array.from('bcdef', (name, at) => `${name}: &${name} [${`*${'abcde'[at]},`.repeat(9)}]\n`).join('')}`,
      ['Excessive alias count'],
    ],
    ['an unknown mode', 'agent: { mode: Fast }', ['agent.mode', '"Fast"']],
  ])('refuses %s, with the path', (_, text, parts) => {
    const told = problems(HEAD + text).join('\n');
    for (const part of parts) expect(told).toContain(part);
  });

  it('tells all problems at once', () => {
    const text = `${HEAD}foo: 1\ntls: { cipherSuites: [A, B] }\nmetrics: { bindAddress: x }\n`;
    expect(problems(text).map((line) => line.split(':')[0])).toEqual([
      'unknown key foo',
      'metrics.bindAddress',
      'tls.cipherSuites[0]',
      'tls.cipherSuites[1]',
    ]);
  });

  it.each([
    ['', ['apiVersion: Required', 'kind: Required']],
    ['- a\n', ['expected a map']],
    ['apiVersion: v1\nkind: ConfigMap\n', ['apiVersion: Unsupported value: "v1"', 'kind: Unsupp']],
  ])('refuses another kind of file: %j', (text, parts) => {
    const told = problems(text);
    for (const [i, part] of parts.entries()) expect(told[i]).toContain(part);
  });
});
