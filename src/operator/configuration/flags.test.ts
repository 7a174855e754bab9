import { describe, expect, test } from 'vitest';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { type ParsedFlags, parseFlags } from './flags.ts';

function parse(args: readonly string[], version: string, file?: string): ParsedFlags {
  return parseFlags(args, version, (path) => {
    if (file === undefined || path !== 'config.yaml') throw new Error(`no such file: ${path}`);
    return file;
  });
}

describe('flags of the operator', () => {
  test('serve nothing, hold no election and use the Pod’s own account by default', () => {
    expect(parse([], '1.2.3')).toEqual({
      kind: 'Flags',
      flags: {
        metricsBindAddress: 'off',
        metricsSecure: false,
        healthProbeBindAddress: 'off',
        webhookBindAddress: 'off',
        installWebhooks: false,
        webhookSecretName: 'lockstep-webhook-server-cert',
        featureGates: DEFAULT_FEATURE_GATES,
        installCrd: false,
        agentImage: 'lockstep/agent:1.2.3',
        agentMode: 'Auto',
        agentInjection: 'Enabled',
        agentDelivery: 'Auto',
        kubeApiQps: 500,
        kubeApiBurst: 500,
        maxJobs: 20_000,
        maxPods: 200_000,
        maxStreams: 32_768,
        unknownAnnotations: 'Refuse',
        onlyManaged: false,
        agentRights: false,
        hubBindAddress: 'off',
        hubSecretName: 'lockstep-hub-server-cert',
        nativeRestartRules: false,
        leaderElect: false,
        leaderElectionId: '6d4f6a47.jobset.x-k8s.io',
        logLevel: 'info',
      },
    });
  });

  test.each([
    [':8081', { host: '::', port: 8081 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:9000', { host: '::1', port: 9000 }],
    ['0', 'off'],
  ])('take %s as an address', (text, expected) => {
    const parsed = parse(['--metrics-bind-address', text], '1');
    expect(parsed).toMatchObject({ kind: 'Flags', flags: { metricsBindAddress: expected } });
  });

  test.each([
    [
      ['--metrics-bind-address', '8081'],
      ['--metrics-bind-address', '8081', 'host:port'],
    ],
    [
      ['--health-probe-bind-address', ':70000'],
      ['--health-probe-bind-address', ':70000'],
    ],
    [
      ['--log-level', 'loud'],
      ['--log-level', 'loud', 'debug, info, warn, error'],
    ],
    [
      ['--namespace', 'Upper'],
      ['--namespace', 'Upper', 'RFC 1123 label'],
    ],
    [
      ['--feature-gates', 'InPlace=true'],
      ['--feature-gates', '"InPlace"', 'InPlaceRestart, RestartJob, ElasticJobSet'],
    ],
    [
      ['--feature-gates', 'RestartJob=true,InPlaceRestart=no'],
      ['--feature-gates', 'InPlaceRestart=true or InPlaceRestart=false'],
    ],
    [
      ['--feature-gates', 'toString=true'],
      ['"toString"', 'RestartJob'],
    ],
    [
      ['--webhook-url', 'http://x'],
      ['--webhook-url', 'http://x', 'https://HOST'],
    ],
    [
      ['--webhook-url', 'https://x/path'],
      ['--webhook-url', 'https://x/path'],
    ],
    [
      ['--webhook-service', 'a.b'],
      ['--webhook-service', 'a.b', 'DNS-1035 label'],
    ],
    [
      ['--webhook-secret-name', 'A'],
      ['--webhook-secret-name', 'RFC 1123 subdomain'],
    ],
    [['--install-webhooks'], ['--install-webhooks', '--webhook-bind-address']],
    [
      ['--webhook-bind-address', ':9443'],
      ['--webhook-bind-address', '(::)', '--webhook-service'],
    ],
    [
      [
        '--webhook-bind-address',
        ':9443',
        '--webhook-service',
        's',
        '--webhook-url',
        'https://x:9443',
      ],
      ['cannot be used together'],
    ],
    [
      ['--metrics-bind-address', ':8080', '--health-probe-bind-address', ':8080'],
      ['--metrics-bind-address', '--health-probe-bind-address', ':: port 8080'],
    ],
    [
      ['--kube-api-qps', '9'.repeat(400)],
      ['--kube-api-qps', 'a number'],
    ],
    [
      ['--kube-api-burst', '-3'],
      ['--kube-api-burst', '-3', 'a whole number from 1'],
    ],
    [
      ['--max-jobs', '100001'],
      ['--max-jobs', '100001', 'a whole number from 1 to 100000'],
    ],
    [
      ['--max-pods', '0'],
      ['--max-pods', '0', 'a whole number from 1 to 1000000'],
    ],
    [
      ['--kube-api-burst', '1.5'],
      ['--kube-api-burst', '1.5', 'a whole number from 1'],
    ],
    [
      ['--leader-election-id', 'A B'],
      ['--leader-election-id', 'A B', 'RFC 1123 subdomain'],
    ],
    [
      ['--agent-image', ''],
      ['--agent-image', 'not empty'],
    ],
    [
      ['--config', ''],
      ['--config', 'not empty'],
    ],
    [['--kubeconfig'], ['--kubeconfig', 'argument missing']],
    [['--unknown'], ['--unknown', 'unknown option']],
    [['surplus'], ['too many arguments']],
  ])('name what is wrong with %j', (args, parts) => {
    const parsed = parse(args, '1');
    expect(parsed.kind).toBe('Error');
    for (const part of parts)
      expect(parsed).toMatchObject({ message: expect.stringContaining(part) });
  });

  test.each([
    ['InPlaceRestart=false', { ...DEFAULT_FEATURE_GATES, InPlaceRestart: false }],
    [
      'RestartJob=false, ElasticJobSet=false,RestartJob=true',
      { ...DEFAULT_FEATURE_GATES, ElasticJobSet: false },
    ],
  ])('turn feature gates on and off: %s', (text, expected) => {
    const parsed = parse(['--feature-gates', text], '1');
    expect(parsed).toMatchObject({ kind: 'Flags', flags: { featureGates: expected } });
  });

  test('confine the operator to namespaces', () => {
    const flags = { namespaces: ['team-a', 'team-b'] };
    expect(parse(['--namespace', 'team-a,team-b,team-a'], '1')).toMatchObject({ flags });
    const many = Array.from({ length: 65 }, (_, index) => `n${index}`).join(',');
    const message = expect.stringContaining('expected at most 64 namespaces, not 65');
    expect(parse(['--namespace', many], '1')).toEqual({ kind: 'Error', message });
  });

  test.each([
    [['--webhook-bind-address', '127.0.0.1:0', '--install-webhooks'], {}],
    [['--metrics-bind-address', ':0', '--health-probe-bind-address', ':0'], {}],
    [
      ['--webhook-bind-address', ':9443', '--webhook-url', 'https://10.0.0.1:9443/'],
      { webhookUrl: 'https://10.0.0.1:9443' },
    ],
    [
      ['--webhook-bind-address', ':9443', '--webhook-service', 'hooks'],
      { webhookService: 'hooks' },
    ],
  ])('take what goes together: %j', (args, expected) => {
    expect(parse(args, '1')).toMatchObject({ kind: 'Flags', flags: expected });
  });

  test('refuse to act beside another controller without webhooks', () => {
    expect(parseFlags(['--only-managed', '--webhooks=off'], '1', () => '')).toEqual({
      kind: 'Error',
      message: expect.stringContaining("option '--only-managed' needs '--webhook-bind-address'"),
    });
  });

  test('answer --help and --version with text', () => {
    expect(parse(['--version'], '1.2.3')).toEqual({ kind: 'Text', text: '1.2.3\n' });
    expect(parse(['--help'], '1')).toMatchObject({
      kind: 'Text',
      text: expect.stringContaining('--leader-elect'),
    });
  });
});

describe('a Configuration file', () => {
  const FILE = `
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook: { port: 1234 }
leaderElection: { resourceName: from-the-file }
agent: { image: from-the-file }
`;
  const flagsOf = (...args: readonly string[]) => {
    const parsed = parse(['--config', 'config.yaml', ...args], '1.2.3', FILE);
    if (parsed.kind !== 'Flags') throw new Error(JSON.stringify(parsed));
    return parsed.flags;
  };

  test('says what no flag says', () => {
    expect(flagsOf('--agent-image', 'from-the-flag', '--no-leader-elect')).toMatchObject({
      agentImage: 'from-the-flag',
      leaderElect: false,
      leaderElectionId: 'from-the-file',
      webhookBindAddress: { host: '::', port: 1234 },
      webhookService: 'lockstep-webhook-service',
      metricsBindAddress: { host: '::', port: 8443 },
      metricsSecure: true,
    });
    expect(flagsOf()).toMatchObject({ agentImage: 'from-the-file', leaderElect: true });
  });

  test('names a Service only where no flag names a URL', () => {
    const flags = flagsOf('--webhook-url', 'https://10.0.0.1:9443');
    expect(flags.webhookUrl).toBe('https://10.0.0.1:9443');
    expect(flags.webhookService).toBeUndefined();
    const both = ['--webhook-url', 'https://10.0.0.1:9443', '--webhook-service', 'hooks'];
    expect(() => flagsOf(...both)).toThrow('cannot be used together');
  });

  test('does not keep webhooks that are turned off', () => {
    const flags = flagsOf('--webhooks', 'off');
    expect(flags.webhookBindAddress).toBe('off');
    expect(flags.webhookService).toBeUndefined();
  });

  test('is named in each of its errors', () => {
    const parsed = parse(['--config', 'config.yaml'], '1', 'kind: Configuration\nfoo: 1\n');
    expect(parsed).toEqual({
      kind: 'Error',
      message: [
        'error: config.yaml: unknown key foo',
        'error: config.yaml: apiVersion: Required value',
      ].join('\n'),
    });
    expect(parse(['--config', 'other.yaml'], '1')).toEqual({
      kind: 'Error',
      message: 'error: other.yaml: cannot be read: no such file: other.yaml',
    });
  });
});
