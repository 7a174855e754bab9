import { CONFIG_MAPS, type ConfigMap } from '@lockstep/kube/objects/core.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { DEPLOYMENTS } from '../../deploy/kinds.ts';
import { readConfiguration } from '../../operator/configuration/configuration.ts';
import { CONFIGURATION_NAME } from '../../operator/configuration/object-names.ts';
import type { GivenSettings } from '../../operator/configuration/setting-values.ts';
import { install, installationYaml } from './install.ts';
import { InstallationWorld, optionsOf } from './installation.fixture.ts';
import { type InstallFlags, parseInstallFlags } from './options.ts';

const HEAD = 'apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n';
const AT = { namespace: 'lockstep-system', name: CONFIGURATION_NAME };
const OFF = { webhooks: 'off' } as const;
const WHERE = { namespace: 'lockstep-system', ...OFF };

let world: InstallationWorld;
beforeEach(async () => {
  world = new InstallationWorld();
  await world.bringUp(optionsOf(OFF));
});

/** The options of flags where `--config` names a file with this text. */
function withFile(text: string, flags: Partial<InstallFlags> = {}) {
  const all = { ...WHERE, config: 'mine.yaml', ...flags };
  return parseInstallFlags(all, '1.2.3', () => HEAD + text);
}

function filed(text: string, flags?: Partial<InstallFlags>) {
  const parsed = withFile(text, flags);
  if ('errors' in parsed) throw new Error(parsed.errors.join());
  return parsed.options;
}

async function stored(): Promise<ConfigMap> {
  return world.client.get(CONFIG_MAPS, AT);
}

async function value(name: keyof GivenSettings): Promise<unknown> {
  const read = readConfiguration((await stored()).data?.['configuration.yaml'] ?? '');
  return 'given' in read ? read.given[name] : read.problems.join();
}

async function edit(change: (text: string) => string): Promise<void> {
  const { data } = await stored();
  const text = change(data?.['configuration.yaml'] ?? '');
  const patch = { data: { 'configuration.yaml': text } };
  await world.client.patch(CONFIG_MAPS, AT, { type: 'merge', patch });
}

/** Runs the command; what it printed about settings. */
async function installed(options = optionsOf(OFF)): Promise<readonly string[]> {
  world.printed.splice(0);
  expect(await install(world.context(), options), world.warned.join()).toBe(0);
  return world.printed.filter((line) => /^(kept|changed):/.test(line));
}

describe('settings of the operator', () => {
  test('stay through installations without a file, as do edits by hand', async () => {
    expect(await installed(filed('agent: { mode: Supervisor }'))).toHaveLength(1);
    expect(await value('agentMode')).toBe('Supervisor');
    await edit((text) => `${text}limits: { maxPods: 1000 }\n`);
    const kept = [
      'kept: limits.maxPods 1000 (edited by hand)',
      'kept: agent.mode Supervisor (set by an earlier installation)',
    ];
    expect(await installed()).toEqual(kept);
    expect(await installed()).toEqual(kept);
    expect(await value('maxPods')).toBe(1000);
    await installed(optionsOf({ ...OFF, reset: true }));
    expect([await value('maxPods'), await value('agentMode')]).toEqual([undefined, undefined]);
    expect(await installed()).toEqual([]);
  });

  test('bring the memory that their streams need', async () => {
    await installed(filed('limits: { maxStreams: 1000 }'));
    expect(JSON.stringify(await world.client.get(DEPLOYMENTS, AT))).toContain('"memory":"512Mi"');
    const more = optionsOf({ ...OFF, maxStreams: '100000' });
    await installed(more);
    const forgotten = optionsOf({ ...OFF, operatorMemory: '2048Mi' });
    expect(await install(world.context(), forgotten)).toBe(1);
    expect(world.warned).toEqual([expect.stringContaining('more with 100000 streams')]);
  });

  test('that are wrong in the cluster are reported, and nothing is applied', async () => {
    await edit((text) => `${text}agent: { mood: good }\n`);
    const calls = world.client.calls.length;
    expect(await install(world.context(), optionsOf(OFF))).toBe(1);
    expect(world.warned).toEqual([
      'ConfigMap lockstep-system/lockstep-operator is wrong: unknown key agent.mood',
      'mend it with "kubectl edit", or drop its settings with --reset',
    ]);
    expect(world.client.calls.slice(calls).filter((call) => !call.startsWith('GET'))).toEqual([]);
    await installed(optionsOf({ ...OFF, reset: true }));
    expect(await installed()).toEqual([]);
  });

  test('are in the printed manifest', () => {
    const made = installationYaml(filed('limits: { maxPods: 7 }'));
    expect(made).toMatchObject({ yaml: expect.stringContaining('maxPods: 7') });
  });
});

test.each([
  ['an unknown key', 'agent: { mood: good }', '--config mine.yaml: unknown key agent.mood'],
  [
    'what needs a volume',
    'metrics: { certDir: /certs }',
    '--config mine.yaml: metrics.certDir is "/certs": an installation has the default',
  ],
  [
    'replicas that all act',
    'leaderElection: { leaderElect: false }',
    '--config mine.yaml: leaderElection.leaderElect is false: an installation has true',
  ],
  [
    'what other objects follow from',
    'onlyManaged: true',
    '--config mine.yaml: onlyManaged is true: an installation has false',
  ],
  [
    'too long',
    `# ${'x'.repeat(70_000)}`,
    '--config mine.yaml: has 70066 characters, allowed are 65536',
  ],
])('a file is refused before anything is asked: %s', (_what, text, error) => {
  expect(withFile(text)).toEqual({ errors: [error] });
});

test('a file that is not there is an error', () => {
  const flags = { namespace: 'lockstep-system', config: 'gone' };
  const read = (): string => {
    throw new Error('ENOENT');
  };
  expect(parseInstallFlags(flags, '1', read)).toEqual({
    errors: ['--config gone: cannot be read: ENOENT'],
  });
});
