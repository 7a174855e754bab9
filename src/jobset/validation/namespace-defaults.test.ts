import { describe, expect, it } from 'vitest';
import type { FailurePolicy, JobSet } from '../jobset.ts';
import { withNamespaceDefaults } from './namespace-defaults.ts';

const IN_PLACE: FailurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 0 };

function jobSet(failurePolicy: FailurePolicy | undefined, metadata: object = {}): JobSet {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'train', ...metadata },
    spec: failurePolicy === undefined ? {} : { failurePolicy },
  };
}

function filled(given: JobSet, ofNamespace: Record<string, string>, servesHub = true) {
  const { jobSet: made, problems } = withNamespaceDefaults(given, ofNamespace, servesHub);
  return { annotations: made.metadata.annotations ?? {}, problems };
}

describe('annotations of a Namespace', () => {
  it.each<[string, JobSet, Record<string, string>, Record<string, string>]>([
    [
      'fill in what a JobSet lacks',
      jobSet(IN_PLACE),
      { 'lockstep/keep-failed': '1h' },
      { 'lockstep/keep-failed': '1h' },
    ],
    [
      'are weaker than its own',
      jobSet(IN_PLACE, { annotations: { 'lockstep/keep-failed': 'Off' } }),
      { 'lockstep/keep-failed': '1h' },
      { 'lockstep/keep-failed': 'Off' },
    ],
    [
      'do not reach a JobSet that does not restart in place',
      jobSet(undefined),
      { 'lockstep/keep-failed': '1h' },
      {},
    ],
    [
      'reach it if they let it restart in place',
      jobSet(undefined),
      {
        'lockstep/keep-failed': '1h',
        'lockstep/restart-strategy': 'InPlaceRestart',
        'lockstep/max-restarts': '4',
      },
      {
        'lockstep/keep-failed': '1h',
        'lockstep/restart-strategy': 'InPlaceRestart',
        'lockstep/max-restarts': '4',
      },
    ],
    [
      'count over what the definition fills in',
      jobSet({ restartStrategy: 'Recreate', maxRestarts: 0 }),
      { 'lockstep/restart-strategy': 'InPlaceRestart' },
      { 'lockstep/restart-strategy': 'InPlaceRestart' },
    ],
    [
      'leave fields that somebody chose',
      jobSet({ restartStrategy: 'BlockingRecreate', maxRestarts: 2 }),
      { 'lockstep/restart-strategy': 'InPlaceRestart', 'lockstep/max-restarts': '4' },
      {},
    ],
    [
      'may have keys of others',
      jobSet(IN_PLACE),
      { 'example.com/x': 'y', 'kubernetes.io/z': '' },
      {},
    ],
  ])('%s', (_, given, ofNamespace, expected) => {
    expect(filled(given, ofNamespace)).toEqual({ annotations: expected, problems: [] });
  });

  it.each<[string, JobSet, Record<string, string>, string]>([
    [
      'a wrong value',
      jobSet(IN_PLACE),
      { 'lockstep/progress-timeout': 'soon' },
      'metadata.annotations[lockstep/progress-timeout]: Invalid value: "soon"',
    ],
    [
      'a wrong value that would not count',
      jobSet(undefined),
      { 'lockstep/standby': 'Hot' },
      'lockstep/standby',
    ],
    [
      'a wrong strategy',
      jobSet(undefined),
      { 'lockstep/restart-strategy': 'InPlace' },
      'expected one of InPlaceRestart, Recreate',
    ],
    [
      'an unknown key',
      jobSet(IN_PLACE),
      { 'lockstep/progress-timout': '5m' },
      'did you mean lockstep/progress-timeout?',
    ],
    [
      'a key of one JobSet',
      jobSet(IN_PLACE),
      { 'lockstep/restart-epoch': '1' },
      'it belongs to one JobSet',
    ],
    [
      'what this JobSet cannot have',
      jobSet(IN_PLACE, { labels: { 'kueue.x-k8s.io/queue-name': 'team' } }),
      { 'lockstep/keep-failed': '1h' },
      'lockstep/keep-failed',
    ],
    [
      'a command without end',
      jobSet(IN_PLACE),
      { 'lockstep/hang-command': 'x'.repeat(200_000) },
      'lockstep/hang-command',
    ],
  ])('ignore %s, and say so', (_, given, ofNamespace, text) => {
    const { annotations, problems } = filled(given, ofNamespace);
    expect(annotations).toEqual({});
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('a default of the Namespace is ignored: metadata.annotations[');
    expect(problems[0]).toContain(text);
    expect(problems[0]?.length).toBeLessThan(500);
  });

  it('ignore the channel of a hub that nobody serves', () => {
    const ofNamespace = { 'lockstep/agent-channel': 'Hub' };
    expect(filled(jobSet(IN_PLACE), ofNamespace, false)).toMatchObject({ annotations: {} });
    expect(filled(jobSet(IN_PLACE), ofNamespace).annotations).toEqual(ofNamespace);
  });

  it('tell of a few problems at a time', () => {
    const wrong = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`lockstep/x${i}`, '']));
    expect(filled(jobSet(IN_PLACE), wrong).problems).toHaveLength(5);
  });
});
