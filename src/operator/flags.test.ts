import { describe, expect, test } from 'vitest';
import { parseFlags } from './flags.ts';

describe('flags of the operator', () => {
  test('serve nothing, elect nobody and use the Pod’s own account by default', () => {
    expect(parseFlags([], '1.2.3')).toEqual({
      kind: 'Flags',
      flags: {
        metricsBindAddress: 'off',
        healthProbeBindAddress: 'off',
        installCrd: false,
        agentImage: 'lockstep/agent:1.2.3',
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
    const parsed = parseFlags(['--metrics-bind-address', text], '1');
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
    [['--kubeconfig'], ['--kubeconfig', 'argument missing']],
    [['--unknown'], ['--unknown', 'unknown option']],
    [['surplus'], ['too many arguments']],
  ])('name what is wrong with %j', (args, parts) => {
    const parsed = parseFlags(args, '1');
    expect(parsed.kind).toBe('Error');
    for (const part of parts)
      expect(parsed).toMatchObject({ message: expect.stringContaining(part) });
  });

  test('answer --help and --version with text', () => {
    expect(parseFlags(['--version'], '1.2.3')).toEqual({ kind: 'Text', text: '1.2.3\n' });
    expect(parseFlags(['--help'], '1')).toMatchObject({
      kind: 'Text',
      text: expect.stringContaining('--leader-elect'),
    });
  });
});
