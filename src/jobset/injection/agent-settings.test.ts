import { formatFieldErrors } from '@lockstep/kube/field-error.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { describe, expect, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { DEFAULT_FEATURE_GATES } from '../feature-gates.ts';
import { IN_PLACE, problems, worker } from '../validation/new-jobset.fixture.ts';
import { jobSetWarnings, validateJobSetUpdate } from '../validation/validation.ts';

/** For a JobSet of two workers with a command, so that either mode fits. */
const SPEC = {
  ...worker({
    template: {
      spec: {
        containers: [{ name: 'c', command: ['train'] }],
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
      },
    },
  }),
  ...IN_PLACE,
};
const told = (annotations: Readonly<Record<string, string>>, labels = {}): readonly string[] =>
  problems(SPEC, { annotations, labels });
const at = (key: string): string => `metadata.annotations[lockstep/${key}]`;

describe('annotations that tell agents what to do', () => {
  test.each<[string, string]>([
    ['progress-timeout', 'Auto'],
    ['progress-timeout', '10s'],
    ['first-progress-timeout', 'Off'],
    ['progress-prefix', 's'],
    ['progress-prefix', ` Schritt №${'💥'.repeat(54)}`],
    ['standby', 'Warm'],
    ['hang-command', 'py-spy dump --pid $LOCKSTEP_WORKER_PID\n'],
    ['hang-command', 'x'.repeat(4096)],
    ['preflight', 'nvidia-smi -L | grep -c . | grep -qx 8'],
    ['last-words', 'All'],
    ['last-words', 'Files'],
    ['stop-grace', '0s'],
    ['stop-grace', '10m'],
    ['keep-failed', '0s'],
    ['keep-failed', '720h'],
    ['restart-epoch', '1'],
    ['restart-epoch', '2147483647'],
  ])('%s may be %j', (key, value) => {
    expect(told({ [`lockstep/${key}`]: value })).toEqual([]);
  });

  const prefix = 'expected Off, or 1 to 64 printable characters on one line';
  const command = 'expected Off, or a line of shell of 1 to 4096 bytes, without NUL';
  const grace = 'expected a duration in whole seconds such as "30s", from 0s to 10m';
  const keep = 'expected Off, or a duration such as "1h", from 0s to 720h';
  const epoch = 'expected the number of an epoch such as "7", from 1 to 2147483647';
  test.each<[string, string, string]>([
    [
      'progress-timeout',
      '9s',
      'expected Off, Auto, or a duration such as "5m", from 10s to 168h0m0s',
    ],
    [
      'first-progress-timeout',
      'Auto',
      'expected Off or a duration such as "5m", from 10s to 168h0m0s',
    ],
    ['progress-prefix', '', prefix],
    ['progress-prefix', 'x'.repeat(65), prefix],
    ['progress-prefix', 'step\n', prefix],
    ['progress-prefix', '\u001b[1mstep', prefix],
    ['progress-prefix', '\u202estep', prefix],
    ['hang-command', '', command],
    ['hang-command', 'a\0b', command],
    ['hang-command', `é${'x'.repeat(4095)}`, command],
    ['preflight', '', command],
    ['preflight', 'x'.repeat(4097), command],
    ['stop-grace', '5', grace],
    ['stop-grace', '500ms', grace],
    ['stop-grace', '-1s', grace],
    ['stop-grace', '601s', grace],
    ['keep-failed', '1d', keep],
    ['keep-failed', '-1h', keep],
    ['keep-failed', '721h', keep],
    ['restart-epoch', '0', epoch],
    ['restart-epoch', '07', epoch],
    ['restart-epoch', '2147483648', epoch],
    ['restart-epoch', '', epoch],
  ])('%s may not be %j', (key, value, detail) => {
    expect(told({ [`lockstep/${key}`]: value })).toEqual([
      `${at(key)}: Invalid value: ${quote(value)}: ${detail}`,
    ]);
  });

  test('name what last words may be', () => {
    expect(told({ 'lockstep/last-words': 'None' })).toEqual([
      `${at('last-words')}: Unsupported value: "None": supported values: "All", "Files", "Off"`,
    ]);
  });

  test('say that a standby is warm, or not there', () => {
    expect(told({ 'lockstep/standby': 'warm' })).toEqual([
      `${at('standby')}: Unsupported value: "warm": supported values: "Off", "Warm"`,
    ]);
  });

  test('leave an agent a lease beside its time to stop a worker', () => {
    const deadline = { 'lockstep/lost-node-deadline': '2m' };
    expect(told({ ...deadline, 'lockstep/stop-grace': '70s' })).toEqual([]);
    expect(told({ ...deadline, 'lockstep/stop-grace': '71s' })).toEqual([
      `${at('lost-node-deadline')}: Invalid value: "2m": expected Off, or a duration such as "5m", from 121s (50s more than lockstep/stop-grace, 71s) to 24h`,
    ]);
  });

  test.each([
    ['label', { labels: { 'kueue.x-k8s.io/queue-name': 'gpus' }, annotations: {} }],
    ['annotation', { annotations: { 'kueue.x-k8s.io/queue-name': 'gpus' } }],
  ])('keep no Pods whose quota Kueue gives away (%s)', (_where, metadata) => {
    const tried = (keep: string): readonly string[] =>
      problems(SPEC, {
        ...metadata,
        annotations: { ...metadata.annotations, 'lockstep/keep-failed': keep },
      });
    expect(tried('0s')).toEqual([]);
    expect(tried('1h')).toEqual([
      `${at('keep-failed')}: Forbidden: 1h keeps the Pods of a failed JobSet, but Kueue gives its quota of queue "gpus" (kueue.x-k8s.io/queue-name) to others as soon as it fails; expected 0s`,
    ]);
  });

  test('are refused by a change only if it makes them wrong', () => {
    const bad = { 'lockstep/keep-failed': 'ever', 'lockstep/stop-grace': '1h' };
    const changed = (from: object, to: object): string =>
      formatFieldErrors(
        validateJobSetUpdate(
          storedJobSet(SPEC, { annotations: { ...from } }),
          storedJobSet(SPEC, { annotations: { ...to } }),
          DEFAULT_FEATURE_GATES,
        ),
      );
    expect(changed(bad, { ...bad, note: 'x' })).toBe('[]');
    expect(changed(bad, { ...bad, 'lockstep/keep-failed': '1h' })).toBe('[]');
    expect(changed({}, bad)).toContain(`${at('keep-failed')}: Invalid value: "ever"`);
  });
});

describe('warnings', () => {
  const warned = (annotations: Readonly<Record<string, string>>, spec: object = SPEC) =>
    jobSetWarnings(storedJobSet({ ...SPEC, ...spec }, { annotations }));
  const supervisors = {
    'lockstep/progress-prefix': 'step ',
    'lockstep/standby': 'Warm',
    'lockstep/hang-command': 'py-spy dump --pid $LOCKSTEP_WORKER_PID',
    'lockstep/preflight': 'nvidia-smi',
    'lockstep/last-words': 'Files',
    'lockstep/stop-grace': '1m',
  };

  test('tell what has no effect on sidecars', () => {
    const about = (mode: string) =>
      warned({ ...supervisors, 'lockstep/restart-mode': mode }).filter((text) =>
        text.includes('Sidecar mode'),
      );
    expect(about('Sidecar')).toEqual(
      ['progress-prefix', 'standby', 'hang-command', 'preflight', 'last-words', 'stop-grace'].map(
        (key) => `${at(key)} has no effect in Sidecar mode: only a supervising agent obeys it`,
      ),
    );
    expect(about('Supervisor')).toEqual([]);
  });

  test('tell what has no effect where no agent is', () => {
    const recreated = { failurePolicy: { restartStrategy: 'Recreate' } };
    const warnings = warned(supervisors, recreated).join('\n');
    for (const key of Object.keys(supervisors)) {
      expect(warnings).toContain(`[${key}] has no effect without restartStrategy InPlaceRestart`);
    }
  });

  test('tell that Pods stay only where agents stop their workers', () => {
    const recreated = { failurePolicy: { restartStrategy: 'Recreate' } };
    expect(warned({ 'lockstep/keep-failed': '1h' }, recreated).join()).toContain(
      `${at('keep-failed')} has no effect without restartStrategy InPlaceRestart`,
    );
    expect(warned({ 'lockstep/keep-failed': '1h' }).join()).not.toContain('keep-failed');
  });

  test('tell that a stored value which may change in life is ignored', () => {
    expect(warned({ 'lockstep/progress-timeout': '5' })).toContainEqual(
      expect.stringMatching(/progress-timeout\]: Invalid value: "5": .*; it is ignored$/),
    );
  });
});
