import { describe, expect, test } from 'vitest';
import { readConfiguration } from '../../operator/configuration/configuration.ts';
import type { GivenSettings } from '../../operator/configuration/setting-values.ts';
import { planSettings, type StoredSettings } from './kept-settings.ts';

/** Written by `lockstep install --max-streams N --agent-image IMAGE` of the first version. */
const firstText = (streams = 32_768, image = 'lockstep/agent:0.1.0'): string =>
  `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook:
  port: 9443
leaderElection:
  leaderElect: true
metrics:
  bindAddress: ":8443"
  secure: true         # over HTTPS, to accounts with ClusterRole lockstep-metrics-reader
health:
  healthProbeBindAddress: ":8081"
internalCertManagement:
  enable: true
  webhookServiceName: lockstep-webhook-service
clientConnection:
  qps: 500
  burst: 500
limits:
  maxStreams: ${streams}    # agents that the hub serves; change the memory limit of the Deployment with it
agent:
  image: ${image}
  mode: Sidecar        # of JobSets without an annotation; or Auto, Supervisor
  injection: Enabled   # or Disabled: templates bring agents of their own
  channel: Auto        # the hub, or else the API server; or Hub, or API
`;

const read = (text: string): GivenSettings => {
  const parsed = readConfiguration(text);
  if ('problems' in parsed) throw new Error(parsed.problems.join());
  return parsed.given;
};

function install(
  stored: StoredSettings | undefined,
  options: Partial<Parameters<typeof planSettings>[0]> = {},
): { readonly stored: StoredSettings; readonly lines: readonly string[] } {
  const nothing = { file: undefined, flagged: {}, isReset: false };
  const { configuration, record, lines } = planSettings({ ...nothing, ...options, stored });
  return { stored: { live: configuration, record }, lines };
}

function byHand(stored: StoredSettings, edits: GivenSettings): StoredSettings {
  return { ...stored, live: { ...stored.live, ...edits } };
}

describe('an upgrade from a version that kept nothing', () => {
  test('drops its fixed text, and says what that changes', () => {
    const { stored, lines } = install({ live: read(firstText()) });
    expect(stored.live).toEqual({});
    expect(lines).toEqual([
      'changed: agent.image from lockstep/agent:0.1.0 to its default',
      'changed: agent.mode from Sidecar to its default',
      'changed: agent.channel from Auto to its default',
    ]);
  });

  test('keeps what was edited by hand, and the flag that lasts', () => {
    const text = firstText(1000, 'elsewhere/agent:1').replace('mode: Sidecar', 'mode: Supervisor');
    const found = { live: read(text.replace('limits:', 'limits:\n  maxPods: 1000')) };
    const { stored, lines } = install(found);
    const kept = [
      'kept: limits.maxPods 1000 (edited by hand)',
      'kept: agent.mode Supervisor (edited by hand)',
      'kept: limits.maxStreams 1000 (set by an earlier installation)',
    ];
    expect(lines.filter((line) => line.startsWith('kept'))).toEqual(kept);
    expect(stored.live).toEqual({ maxPods: 1000, maxStreams: 1000, agentMode: 'Supervisor' });
    const again = install(stored);
    expect(again.stored).toEqual(stored);
    expect(again.lines, 'it is still known what was edited').toEqual(kept);
  });

  test('does not count as edited what is left out of the file', () => {
    expect(install({ live: {} })).toMatchObject({ stored: { live: {} }, lines: [] });
  });
});

describe('settings of --config', () => {
  const file: GivenSettings = { maxPods: 10, agentMode: 'Sidecar' };
  const first = install(undefined, { file });

  test('stay when the next installation has none, and go with --reset', () => {
    expect(first).toMatchObject({ lines: [], stored: { live: file } });
    const next = install(first.stored);
    expect(next.stored).toEqual(first.stored);
    expect(next.lines).toEqual([
      'kept: limits.maxPods 10 (set by an earlier installation)',
      'kept: agent.mode Sidecar (set by an earlier installation)',
    ]);
    const reset = install(next.stored, { isReset: true });
    expect(reset.stored.live).toEqual({});
    expect(reset.lines).toEqual([
      'changed: limits.maxPods from 10 to its default',
      'changed: agent.mode from Sidecar to its default',
    ]);
  });

  test('come from the newest file, which wins over edits by hand', () => {
    const edited = byHand(first.stored, { maxPods: 99, maxJobs: 7 });
    const { stored, lines } = install(edited, { file: { maxPods: 20 } });
    expect(lines).toEqual([
      'kept: limits.maxJobs 7 (edited by hand)',
      'changed: limits.maxPods from 99 to 20',
      'changed: agent.mode from Sidecar to its default',
    ]);
    expect(stored.live).toEqual({ maxPods: 20, maxJobs: 7 });
  });

  test('that somebody removed by hand stay removed', () => {
    const { record } = first.stored;
    const { stored, lines } = install({ live: { agentMode: 'Sidecar' }, record });
    expect(lines).toEqual([
      'kept: limits.maxPods absent (edited by hand)',
      'kept: agent.mode Sidecar (set by an earlier installation)',
    ]);
    expect(stored.live).toEqual({ agentMode: 'Sidecar' });
  });
});

test('flags win, and stay, but for images', () => {
  const edited = byHand(install(undefined).stored, { maxStreams: 60 });
  const { stored, lines } = install(edited, { flagged: { maxStreams: 50, agentImage: 'mine:1' } });
  expect(lines).toEqual([
    'changed: limits.maxStreams from 60 to 50',
    'changed: agent.image from its default to mine:1',
  ]);
  const next = install(stored);
  expect(next.stored.live).toEqual({ maxStreams: 50 });
  expect(next.lines).toEqual([
    'kept: limits.maxStreams 50 (set by an earlier installation)',
    'changed: agent.image from mine:1 to its default',
  ]);
});

test('nothing is printed that a terminal would obey', () => {
  const limits = { 'example.com/gpu': '1\u001b[2J' };
  const { stored, lines } = install(byHand(install(undefined).stored, { agentLimits: limits }));
  expect(stored.live).toEqual({ agentLimits: limits });
  expect(lines.join()).not.toContain('\u001b');
});
