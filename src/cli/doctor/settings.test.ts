import { expect, test } from 'vitest';
import type { Fact } from './finding.ts';
import { settingsFindings } from './settings.ts';

const HEAD = 'apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n';

function shown(text: Fact<string | undefined>): readonly string[] {
  return settingsFindings(text, 'here').map(
    ({ level, text: said, fix }) => `${level}: ${said}${fix === undefined ? '' : ` (${fix})`}`,
  );
}

test.each<[string, Fact<string | undefined>, readonly string[]]>([
  ['no installation', { value: undefined }, []],
  ['what may not be read', { unknown: 'you may not' }, ['not-checked: you may not']],
  ['an empty file', { value: HEAD }, ['ok: all have their defaults']],
  [
    'defaults that are written out',
    { value: `${HEAD}limits: { maxPods: 200000 }\n` },
    ['ok: all have their defaults'],
  ],
  [
    'other values',
    {
      value: `${HEAD}limits: { maxPods: 1000 }\nfeatureGates: { RestartJob: false }\nagent: { mode: Supervisor }\n`,
    },
    [
      'ok: not defaults: featureGates {"RestartJob":false}, limits.maxPods 1000, agent.mode Supervisor',
    ],
  ],
  [
    'a wrong file',
    { value: `${HEAD}agent: { mood: x }\nlimits: { maxPod: 1 }\n` },
    [
      'problem: the configuration is wrong, so the operator runs with the last one that was right: unknown key agent.mood; unknown key limits.maxPod (kubectl -n here edit configmap lockstep-operator)',
    ],
  ],
])('the doctor says of the settings: %s', (_what, text, expected) => {
  expect(shown(text)).toEqual(expected);
});
