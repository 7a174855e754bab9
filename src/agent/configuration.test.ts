import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readConfiguration } from './configuration.ts';
import type { Environment } from './environment.ts';

const MINIMAL: Environment = { NAMESPACE: 'ns', POD_NAME: 'pod', JOBSET_NAME: 'train' };

describe('the configuration of an agent', () => {
  it('needs no more than the Pod, its namespace and its JobSet', () => {
    expect(readConfiguration([], MINIMAL)).toEqual({
      type: 'Configuration',
      configuration: {
        dialect: 'Canonical',
        worker: undefined,
        namespace: 'ns',
        podName: 'pod',
        podUid: undefined,
        podIP: undefined,
        barrierPort: 8080,
        barrierPath: '/barrier-is-lifted',
        jobSetName: 'train',
        jobSetUid: undefined,
        replicatedJobName: undefined,
        restartExitCode: 113,
        markerDirectory: undefined,
        restartRules: [],
        stopGraceMs: 5000,
        progressFile: '/var/run/lockstep-progress/progress',
        hasStandby: false,
        lastWords: 'All',
        terminationMessagePath: '/dev/termination-log',
        hub: undefined,
        root: '',
      },
    });
  });

  it.each([
    ['by default falls back to the API server', {}, true],
    ['does so if that is asked for', { LOCKSTEP_AGENT_CHANNEL: 'Auto' }, true],
    ['or stays with it', { LOCKSTEP_AGENT_CHANNEL: 'Hub' }, false],
  ])('speaks to the hub that is set, and %s', (_what, channel, hasFallback) => {
    const told = { LOCKSTEP_HUB_URL: 'https://hub:9445', LOCKSTEP_HUB_CA: 'PEM' };
    expect(readConfiguration([], { ...MINIMAL, ...told, ...channel })).toMatchObject({
      configuration: { hub: { url: 'https://hub:9445', authorities: 'PEM', hasFallback } },
    });
    const apiOnly = { ...MINIMAL, ...told, LOCKSTEP_AGENT_CHANNEL: 'API' };
    expect(readConfiguration([], apiOnly)).toMatchObject({ configuration: { hub: undefined } });
  });

  it('takes a prefix as long as the webhook allows, in any script', () => {
    const prefix = '\u{1F680}'.repeat(64);
    expect(
      readConfiguration(['--', 'train'], { ...MINIMAL, LOCKSTEP_PROGRESS_PREFIX: prefix }),
    ).toMatchObject({ configuration: { progressPrefix: prefix } });
  });

  it('has no lease where the deadline is off, as an annotation of its template may say', () => {
    const environment = { ...MINIMAL, LOCKSTEP_LOST_NODE_DEADLINE: 'Off' };
    expect(readConfiguration(['--', 'train'], environment)).toMatchObject({
      configuration: { leaseMs: undefined },
    });
  });

  it('takes everything else from the environment and the worker from the command line', () => {
    const rules = [{ action: 'RestartPod', exitCodes: { operator: 'In', values: [7] } }];
    const result = readConfiguration(['--', 'train', '--fast', '--'], {
      ...MINIMAL,
      RESTART_POD_IN_PLACE_EXIT_CODE: '99',
      LOCKSTEP_STOP_GRACE_SECONDS: '0',
      LOCKSTEP_LOST_NODE_DEADLINE: '5m',
      LOCKSTEP_RESTART_RULES: JSON.stringify(rules),
      LOCKSTEP_ROOT: '/pods/1',
      LOCKSTEP_PROGRESS_PREFIX: 'step ',
      LOCKSTEP_HANG_COMMAND: 'py-spy dump --pid $LOCKSTEP_WORKER_PID',
      LOCKSTEP_PREFLIGHT: 'nvidia-smi',
      LOCKSTEP_STANDBY_MODE: 'Warm',
      LOCKSTEP_LAST_WORDS: 'Files',
      LOCKSTEP_TERMINATION_MESSAGE_PATH: '/tmp/message',
      JOBSET_UID: '',
    });
    expect(result).toMatchObject({
      configuration: {
        worker: { kind: 'Arguments', argv: ['train', '--fast', '--'] },
        restartExitCode: 99,
        stopGraceMs: 0,
        leaseMs: 280_000,
        restartRules: rules,
        root: '/pods/1',
        progressPrefix: 'step ',
        hangCommand: 'py-spy dump --pid $LOCKSTEP_WORKER_PID',
        preflight: 'nvidia-smi',
        hasStandby: true,
        lastWords: 'Files',
        terminationMessagePath: '/tmp/message',
        jobSetUid: undefined,
      },
    });
  });

  it.each<[string, readonly string[], Environment, string]>([
    [
      'a hub that is no HTTPS address',
      [],
      { ...MINIMAL, LOCKSTEP_HUB_URL: 'http://hub' },
      'LOCKSTEP_HUB_URL: "http://hub": expected https://HOST:PORT',
    ],
    [
      'the hub alone, and none',
      [],
      { ...MINIMAL, LOCKSTEP_AGENT_CHANNEL: 'Hub' },
      'LOCKSTEP_HUB_URL: not set: expected https://HOST:PORT',
    ],
    [
      'an unknown channel',
      [],
      { ...MINIMAL, LOCKSTEP_AGENT_CHANNEL: 'hub' },
      'LOCKSTEP_AGENT_CHANNEL: "hub": expected Auto, Hub, API',
    ],
    [
      'a missing variable',
      [],
      { POD_NAME: 'p', JOBSET_NAME: 'j', JOBSET_UID: 'u' },
      'NAMESPACE: not set: expected',
    ],
    ['an empty one', [], { ...MINIMAL, POD_NAME: '' }, 'POD_NAME: "": expected'],
    [
      'an exit code of 0',
      [],
      { ...MINIMAL, RESTART_POD_IN_PLACE_EXIT_CODE: '0' },
      'RESTART_POD_IN_PLACE_EXIT_CODE: "0": expected a whole number from 1 to 255',
    ],
    [
      'a grace that is no number',
      [],
      { ...MINIMAL, LOCKSTEP_STOP_GRACE_SECONDS: '5s' },
      'LOCKSTEP_STOP_GRACE_SECONDS: "5s": expected a whole number from 0 to 3600',
    ],
    [
      'a grace that is a fraction',
      [],
      { ...MINIMAL, LOCKSTEP_STOP_GRACE_SECONDS: '1.5' },
      'LOCKSTEP_STOP_GRACE_SECONDS: "1.5": expected a whole number from 0 to 3600',
    ],
    [
      'a prefix that is too long',
      [],
      { ...MINIMAL, LOCKSTEP_PROGRESS_PREFIX: 'x'.repeat(65) },
      'expected one line of 1 to 64 characters',
    ],
    [
      'a standby that is not warm',
      [],
      { ...MINIMAL, LOCKSTEP_STANDBY_MODE: '1' },
      'LOCKSTEP_STANDBY_MODE: "1": expected Warm',
    ],
    [
      'last words from elsewhere',
      [],
      { ...MINIMAL, LOCKSTEP_LAST_WORDS: 'files' },
      'LOCKSTEP_LAST_WORDS: "files": expected All, Files',
    ],
    [
      'a deadline that is no duration',
      [],
      { ...MINIMAL, LOCKSTEP_LOST_NODE_DEADLINE: '300' },
      'LOCKSTEP_LOST_NODE_DEADLINE: "300": expected Off, or a duration such as "5m", from 60s (with 5s for the worker to stop) to 24h',
    ],
    [
      'a deadline that leaves no time beside the grace',
      [],
      { ...MINIMAL, LOCKSTEP_LOST_NODE_DEADLINE: '5m', LOCKSTEP_STOP_GRACE_SECONDS: '300' },
      'LOCKSTEP_LOST_NODE_DEADLINE: "5m": expected Off, or a duration such as "5m", from 350s (with 300s for the worker to stop) to 24h',
    ],
    [
      'rules that are no rules',
      [],
      { ...MINIMAL, LOCKSTEP_RESTART_RULES: '[{"action":"Explode"}]' },
      'LOCKSTEP_RESTART_RULES: "[{\\"action\\":\\"Explode\\"}]": expected a JSON array',
    ],
    ['a command without --', ['train'], MINIMAL, 'argument "train": expected "--"'],
    ['-- without a command', ['--'], MINIMAL, 'argument "--": expected the command'],
  ])('names %s', (_, args, environment, expected) => {
    const result = readConfiguration(args, environment);
    expect(result.type === 'Errors' ? result.errors.join('\n') : result.type).toContain(expected);
  });

  it('tells all problems at once', () => {
    const result = readConfiguration(['x'], { JOBSET_UID: 'u' });
    expect(result.type === 'Errors' && result.errors).toHaveLength(4);
  });

  it('takes one absolute path to install the agent to, in any environment', () => {
    expect(readConfiguration(['--install', '/opt/agent'], {})).toEqual({
      type: 'Install',
      directory: '/opt/agent',
    });
    for (const args of [[], ['relative'], ['/one', '/two']]) {
      expect(readConfiguration(['--install', ...args], {})).toEqual({
        type: 'Errors',
        errors: [`--install: "${args.join(' ')}", expected one absolute path`],
      });
    }
  });

  it('takes the address of the hub for a probe, and needs no Pod of a group', () => {
    expect(readConfiguration(['--probe'], {})).toEqual({ type: 'Probe', hub: undefined, root: '' });
    const environment = { LOCKSTEP_HUB_URL: 'https://hub:1', LOCKSTEP_ROOT: '/r' };
    expect(readConfiguration(['--probe'], environment)).toEqual({
      type: 'Probe',
      hub: { url: 'https://hub:1', authorities: undefined, hasFallback: true },
      root: '/r',
    });
    const wrong = readConfiguration(['--probe'], { LOCKSTEP_HUB_URL: 'http://hub' });
    expect(wrong.type).toBe('Errors');
  });

  it('answers --help and --version in any environment', () => {
    expect(readConfiguration(['--help'], {}).type).toBe('Help');
    expect(readConfiguration(['--version'], {}).type).toBe('Version');
  });

  it('never throws on arbitrary rules', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        readConfiguration([], { ...MINIMAL, LOCKSTEP_RESTART_RULES: text });
      }),
    );
  });
});

describe("the configuration in upstream's dialect", () => {
  const UPSTREAMS: Environment = { POD_NAME: 'pod', JOBSET_NAME: 'train' };

  it('is for a sidecar by default', () => {
    expect(readConfiguration([], UPSTREAMS)).toMatchObject({
      configuration: {
        dialect: 'Upstream',
        worker: undefined,
        namespace: undefined,
        jobSetUid: undefined,
        barrierPort: 8081,
        barrierPath: '/barrier-is-down',
        restartExitCode: 1,
        restartRules: undefined,
      },
    });
  });

  it("takes upstream's variables", () => {
    const environment = {
      ...UPSTREAMS,
      IN_PLACE_RESTART_EXIT_CODE: '77',
      STARTUP_PROBE_PATH: '/go',
      STARTUP_PROBE_PORT: '9000',
      LOCKSTEP_POD_IP: '127.0.0.9',
      LOCKSTEP_PORT_9000: '41234',
    };
    expect(readConfiguration([], environment)).toMatchObject({
      configuration: {
        restartExitCode: 77,
        barrierPath: '/go',
        barrierPort: 41_234,
        podIP: '127.0.0.9',
      },
    });
  });

  it('is for a supervisor with WORKER_COMMAND', () => {
    const environment = { ...UPSTREAMS, WORKER_COMMAND: 'train --fast', SHELL: '/bin/zsh' };
    expect(readConfiguration([], environment)).toMatchObject({
      configuration: { worker: { kind: 'Shell', line: 'train --fast', shell: '/bin/zsh' } },
    });
  });

  it.each(['NAMESPACE', 'JOBSET_UID', 'RESTART_POD_IN_PLACE_EXIT_CODE'])(
    'gives way to ours where %s is set',
    (name) => {
      const environment = { ...UPSTREAMS, NAMESPACE: 'ns', WORKER_COMMAND: 'x', [name]: '7' };
      expect(readConfiguration([], environment)).toMatchObject({
        configuration: { dialect: 'Canonical', worker: undefined, barrierPort: 8080 },
      });
    },
  );

  it.each<[string, readonly string[], Environment, string]>([
    ['a missing JobSet', [], { POD_NAME: 'p' }, 'JOBSET_NAME: not set'],
    [
      'an exit code that is no number',
      [],
      { ...UPSTREAMS, IN_PLACE_RESTART_EXIT_CODE: 'one' },
      'IN_PLACE_RESTART_EXIT_CODE: "one": expected a whole number from 1 to 255',
    ],
    [
      'a port that is none',
      [],
      { ...UPSTREAMS, STARTUP_PROBE_PORT: '70000' },
      'STARTUP_PROBE_PORT: "70000": expected a whole number from 1 to 65535',
    ],
    [
      'a supervisor with the port of a sidecar',
      [],
      { ...UPSTREAMS, WORKER_COMMAND: 'x', STARTUP_PROBE_PORT: '8081' },
      'WORKER_COMMAND: "x": expected none beside STARTUP_PROBE_PATH or STARTUP_PROBE_PORT',
    ],
    [
      'a supervisor with the path of a sidecar',
      [],
      { ...UPSTREAMS, WORKER_COMMAND: 'x', STARTUP_PROBE_PATH: '/go' },
      'WORKER_COMMAND: "x": expected none beside STARTUP_PROBE_PATH or STARTUP_PROBE_PORT',
    ],
    [
      'two workers',
      ['--', 'train'],
      { ...UPSTREAMS, WORKER_COMMAND: 'x' },
      'WORKER_COMMAND: "x": expected none beside a command after "--"',
    ],
  ])('names %s', (_, args, environment, expected) => {
    const result = readConfiguration(args, environment);
    expect(result.type === 'Errors' ? result.errors.join('\n') : result.type).toContain(expected);
  });
});
