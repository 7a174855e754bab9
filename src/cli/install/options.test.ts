import { expect, test } from 'vitest';
import { type InstallFlags, parseInstallFlags } from './options.ts';

test.each<[Partial<InstallFlags>, string]>([
  [{ namespace: 'A' }, '--namespace is "A"'],
  [{ webhooks: 'maybe' }, '--webhooks is "maybe", allowed are on, off'],
  [{ timeout: '0' }, '--timeout is "0", allowed are seconds from 1 to 3600'],
  [{ output: 'json' }, '--output is "json", allowed is yaml'],
  [{ watchNamespace: ['a', 'B'] }, '--watch-namespace is "B"'],
  [
    { watchNamespace: Array.from({ length: 65 }, (_, index) => `n${index}`) },
    '--watch-namespace names 65, allowed are 64',
  ],
  [{ maxStreams: '0' }, '--max-streams is "0": expected a whole number from 1 to 262144'],
  [
    { operatorMemory: '1Gi' },
    '--operator-memory is "1Gi", allowed is 2048Mi or more with 32768 streams',
  ],
  [{ operatorMemory: 'much', maxStreams: '1000' }, '--operator-memory is "much", allowed is 512Mi'],
  [{ agentImage: 'a b' }, '--agent-image is "a b"'],
  [{ operatorImage: 'a b' }, '--operator-image is "a b"'],
  [{ registry: 'r.example/' }, '--registry is "r.example/", allowed is a registry'],
  [{ registry: 'http://r.example' }, '--registry is "http://r.example"'],
  [{ imagePullSecret: ['a', 'B_'] }, '--image-pull-secret is "B_": a lowercase RFC 1123'],
  [
    { imagePullSecret: Array.from({ length: 17 }, (_, index) => `s${index}`) },
    '--image-pull-secret names 17, allowed are 16',
  ],
  [{ agentMode: 'Fast' }, '--agent-mode is "Fast": expected Auto, Sidecar or Supervisor'],
])('a wrong flag is reported: %j', (flags, expected) => {
  const parsed = parseInstallFlags({ namespace: 'n', ...flags }, '1');
  expect(parsed).toEqual({ errors: [expect.stringContaining(expected)] });
});

test('the memory of the operator follows from how many agents it serves', () => {
  const settingsWith = (flags: Partial<InstallFlags>) => {
    const parsed = parseInstallFlags({ namespace: 'n', ...flags }, '1');
    return 'options' in parsed ? parsed.options.settings : undefined;
  };
  expect(settingsWith({})).toMatchObject({ configuration: {}, operatorMemory: '2048Mi' });
  expect(settingsWith({ maxStreams: '5000' })).toMatchObject({ operatorMemory: '768Mi' });
  expect(settingsWith({ maxStreams: '5000', operatorMemory: '1Gi' })).toMatchObject({
    configuration: { maxStreams: 5_000 },
    operatorMemory: '1Gi',
  });
});

const DIGEST = `sha256:${'0'.repeat(64)}`;

test.each<[string, Partial<InstallFlags>, string | undefined, string | undefined]>([
  ['nothing', {}, 'lockstep/operator:1', undefined],
  [
    'digests',
    { operatorImage: `r.example/op@${DIGEST}`, agentImage: `r.example/ag:2@${DIGEST}` },
    `r.example/op@${DIGEST}`,
    `r.example/ag:2@${DIGEST}`,
  ],
  [
    'a registry',
    { registry: 'r.example:5000/mirror' },
    'r.example:5000/mirror/lockstep/operator:1',
    'r.example:5000/mirror/lockstep/agent:1',
  ],
  [
    'a registry before given images',
    { registry: 'r.example', operatorImage: 'op:2', agentImage: `ag@${DIGEST}` },
    'r.example/op:2',
    `r.example/ag@${DIGEST}`,
  ],
])('images follow from %s', (_what, flags, operatorImage, agentImage) => {
  const parsed = parseInstallFlags({ namespace: 'n', ...flags }, '1');
  if ('errors' in parsed) throw new Error(parsed.errors.join());
  const { settings } = parsed.options;
  expect(settings.operatorImage).toBe(operatorImage);
  expect(settings.configuration.agentImage).toBe(agentImage);
});

test('the image of a file stays as it is, beside a registry', () => {
  const head = 'apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n';
  const flags = { namespace: 'n', registry: 'r.example', config: 'f' };
  const parsed = parseInstallFlags(flags, '1', () => `${head}agent: { image: "mine:1" }\n`);
  expect(parsed).toMatchObject({
    options: { settings: { configuration: { agentImage: 'mine:1' } } },
  });
});
