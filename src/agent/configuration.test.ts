import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Environment, readConfiguration } from './configuration.ts';

const MINIMAL: Environment = { NAMESPACE: 'ns', POD_NAME: 'pod', JOBSET_NAME: 'train' };

describe('the configuration of an agent', () => {
  it('needs no more than the seeds say', () => {
    expect(readConfiguration([], MINIMAL)).toEqual({
      type: 'Configuration',
      configuration: {
        worker: undefined,
        namespace: 'ns',
        podName: 'pod',
        podUid: undefined,
        podIP: undefined,
        barrierPort: undefined,
        jobSetName: 'train',
        jobSetUid: undefined,
        replicatedJobName: undefined,
        restartExitCode: 113,
        markerDirectory: undefined,
        restartRules: [],
        stopGraceMs: 5000,
        root: '',
      },
    });
  });

  it('takes everything else from the environment and the worker from the command line', () => {
    const rules = [{ action: 'RestartPod', exitCodes: { operator: 'In', values: [7] } }];
    const result = readConfiguration(['--', 'train', '--fast', '--'], {
      ...MINIMAL,
      RESTART_POD_IN_PLACE_EXIT_CODE: '99',
      LOCKSTEP_STOP_GRACE_SECONDS: '0',
      LOCKSTEP_RESTART_RULES: JSON.stringify(rules),
      LOCKSTEP_ROOT: '/pods/1',
      JOBSET_UID: '',
    });
    expect(result).toMatchObject({
      configuration: {
        worker: ['train', '--fast', '--'],
        restartExitCode: 99,
        stopGraceMs: 0,
        restartRules: rules,
        root: '/pods/1',
        jobSetUid: undefined,
      },
    });
  });

  it.each<[string, readonly string[], Environment, string]>([
    ['a missing variable', [], { POD_NAME: 'p', JOBSET_NAME: 'j' }, 'NAMESPACE: not set: expected'],
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
    const result = readConfiguration(['x'], {});
    expect(result.type === 'Errors' && result.errors).toHaveLength(4);
  });

  it('answers --help and --version whatever the environment', () => {
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
