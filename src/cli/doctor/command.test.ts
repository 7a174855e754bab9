import { expect, test } from 'vitest';
import { type DoctorFlags, exitCodeOf, parseDoctor } from './command.ts';
import type { Level } from './finding.ts';

test.each<[string | undefined, DoctorFlags, object]>([
  [undefined, { namespace: 'ops' }, { namespace: 'ops', jobSetNamespace: undefined }],
  ['train', { namespace: 'team' }, { namespace: undefined, jobSetNamespace: 'team' }],
  [
    'train',
    { namespace: 'ops', jobsetNamespace: 'team' },
    { namespace: 'ops', jobSetNamespace: 'team' },
  ],
])('of JobSet %s with %j the namespaces are %j', (jobSet, flags, namespaces) => {
  const parsed = parseDoctor(jobSet, { ...flags, probe: true });
  expect(parsed).toMatchObject({ options: { ...namespaces, jobSet, hasProbe: true } });
});

test.each<[string, DoctorFlags, RegExp]>([
  ['train', {}, /JobSet "train" is for the Pod of --probe, which is missing/],
  ['No', { probe: true }, /the name of the JobSet is "No"/],
  ['train', { probe: true, namespace: 'No' }, /--namespace is "No"/],
])('JobSet %s with %j is refused', (jobSet, flags, message) => {
  const parsed = parseDoctor(jobSet, flags);
  expect('errors' in parsed && parsed.errors.join()).toMatch(message);
});

test.each<[readonly Level[], number]>([
  [['ok', 'note'], 0],
  [['ok', 'not-checked', 'problem'], 1],
  [['ok', 'not-checked'], 3],
])('findings of levels %j end with %d', (levels, code) => {
  const findings = levels.map(
    (level) => ({ topic: 'Nodes', check: 'x', level, text: '' }) as const,
  );
  expect(exitCodeOf(findings)).toBe(code);
});

test('what was not there to look at is no reason to doubt', () => {
  const moot = {
    topic: 'Probe',
    check: 'x',
    level: 'not-checked',
    text: '',
    isMoot: true,
  } as const;
  expect(exitCodeOf([moot])).toBe(0);
});
