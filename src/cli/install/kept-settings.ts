/**
 * What an installation makes of the Configuration file that the cluster has. What `--config` and
 * flags have set stays until `--reset`, and so does what somebody has edited by hand. What only the
 * fixed text of an older version said goes, so that new defaults reach old installations.
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { printable } from '@lockstep/kube/quote.ts';
import { readConfiguration } from '../../operator/configuration/configuration.ts';
import {
  ALL_SETTINGS,
  type GivenSettings,
  type SettingName,
} from '../../operator/configuration/setting-values.ts';
import { SETTINGS } from '../../operator/configuration/settings.ts';

/** What the ConfigMap of the cluster says. */
export interface StoredSettings {
  readonly live: GivenSettings;
  /** What the last installation wrote and what was given to it; absent in older versions. */
  readonly record?: SettingsRecord | undefined;
}

export interface SettingsRecord {
  /** Everything in the file, without edits by hand. */
  readonly installed: GivenSettings;
  /** What `--config` and flags have set, and later installations keep. */
  readonly given: GivenSettings;
}

export interface SettingsPlan {
  readonly configuration: GivenSettings;
  /** What the next installation is to know. */
  readonly record: SettingsRecord;
  /** What is kept and what changes, for the user. */
  readonly lines: readonly string[];
}

export function planSettings(options: {
  readonly stored: StoredSettings | undefined;
  /** What `--config` brings. */
  readonly file: GivenSettings | undefined;
  /** What flags set now. */
  readonly flagged: GivenSettings;
  /** Whether earlier settings, and edits by hand, are dropped. */
  readonly isReset: boolean;
}): SettingsPlan {
  const { stored, file, flagged, isReset } = options;
  const kept = stored === undefined || isReset ? undefined : stored;
  const { record, live = {} } = kept ?? {};
  const { installed, given: earlier } = record ?? firstRecord(live);
  const given: GivenSettings = { ...(file ?? (kept && earlier)), ...flagged };
  const byHand = namesOf(live, installed).filter(
    (name) =>
      !deepEqual(live[name], installed[name]) &&
      file?.[name] === undefined &&
      flagged[name] === undefined &&
      (live[name] !== undefined || given[name] !== undefined),
  );
  const configuration = withValues(given, byHand, live);
  const stays =
    file === undefined ? namesOf(given).filter((name) => flagged[name] === undefined) : [];
  return {
    configuration,
    // An image belongs to a version, so it is to be given each time.
    record: {
      installed: given,
      given: withValues(given, flagged.agentImage ? ['agentImage'] : [], {}),
    },
    lines: [
      ...byHand.map((name) => `kept: ${told(name, live)} (edited by hand)`),
      ...stays
        .filter((name) => !byHand.includes(name))
        .map((name) => `kept: ${told(name, given)} (set by an earlier installation)`),
      ...(stored === undefined ? [] : changes(stored.live, configuration)),
    ],
  };
}

/** `settings` with the values that `from` has for these names; without those that it lacks. */
function withValues(
  settings: GivenSettings,
  names: readonly SettingName[],
  from: GivenSettings,
): GivenSettings {
  const others = Object.entries(settings).filter(([name]) => !names.some((one) => one === name));
  const values = names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]]));
  // Each value comes from settings, under its own name.
  return Object.fromEntries([...others, ...values]) as GivenSettings;
}

/** Names of settings that one of them has, in the order of the table. */
function namesOf(...all: readonly GivenSettings[]): readonly SettingName[] {
  return ALL_SETTINGS.map(([name]) => name).filter((name) =>
    all.some((settings) => settings[name] !== undefined),
  );
}

function changes(before: GivenSettings, after: GivenSettings): readonly string[] {
  return namesOf(before, after).flatMap((name) => {
    if (deepEqual(effective(name, before), effective(name, after))) return [];
    const [from, to] = [before, after].map((settings) =>
      settings[name] === undefined ? 'its default' : shown(settings[name]),
    );
    return [`changed: ${SETTINGS[name].path} from ${from} to ${to}`];
  });
}

function effective(name: SettingName, given: GivenSettings): unknown {
  const [, setting] = ALL_SETTINGS.find(([known]) => known === name) ?? [];
  return given[name] ?? setting?.default;
}

function told(name: SettingName, settings: GivenSettings): string {
  const value = settings[name];
  return `${SETTINGS[name].path} ${value === undefined ? 'absent' : shown(value)}`;
}

function shown(value: unknown): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

/**
 * Installations wrote one text before they kept a record. Its image came from a version or a flag
 * and goes; its number of streams stays.
 */
function firstRecord(live: GivenSettings): SettingsRecord {
  const read = readConfiguration(FIRST_TEXT);
  const first = 'given' in read ? read.given : {};
  const installed = withValues(first, ['agentImage', 'maxStreams'], live);
  const isSet = live.maxStreams !== undefined && live.maxStreams !== first.maxStreams;
  return { installed, given: isSet ? { maxStreams: live.maxStreams } : {} };
}

const FIRST_TEXT = `
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook:
  port: 9443
leaderElection:
  leaderElect: true
metrics:
  bindAddress: ":8443"
  secure: true
health:
  healthProbeBindAddress: ":8081"
internalCertManagement:
  enable: true
  webhookServiceName: lockstep-webhook-service
clientConnection:
  qps: 500
  burst: 500
limits:
  maxStreams: 32768
agent:
  mode: Sidecar
  injection: Enabled
  channel: Auto
`;
