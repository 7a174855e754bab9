/** Turns the settings of a file into values of the program. */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { LeaseTimes } from '@lockstep/kube/runtime/controller/leader-election.ts';
import type { ContainerResources } from '../../jobset/injection/agent-resources.ts';
import type { BindAddress } from './bind-address.ts';
import type { Setting, SettingType } from './setting-types.ts';
import { SETTINGS } from './settings.ts';
import { type TlsSettings, tlsSettings } from './tls-settings.ts';

type Settings = typeof SETTINGS;
export type SettingName = keyof Settings;
type TypeOf<K extends SettingName> = Settings[K]['type'];
type RawOf<K extends SettingName> = TypeOf<K> extends SettingType<infer Raw, infer _> ? Raw : never;
type ValueOf<K extends SettingName> = TypeOf<K> extends SettingType<infer _, infer V> ? V : never;
type WithDefault = {
  [K in SettingName]: Settings[K] extends { readonly default: unknown } ? K : never;
}[SettingName];

/** The settings in a file, by name. */
export type GivenSettings = { readonly [K in SettingName]?: RawOf<K> };

/** All settings, given or not. */
type SettingValues = { readonly [K in WithDefault]: ValueOf<K> } & {
  readonly [K in Exclude<SettingName, WithDefault>]?: ValueOf<K>;
};

/** The table for code that treats all settings alike. */
export const ALL_SETTINGS = Object.entries(SETTINGS) as readonly (readonly [
  SettingName,
  Setting,
])[];

/** The given values, and defaults for all others. */
export function settingValues(given: GivenSettings): SettingValues {
  const values = ALL_SETTINGS.map(([name, setting]) => {
    const raw = given[name] ?? setting.default;
    return [name, raw === undefined ? undefined : setting.type.read(raw)] as const;
  });
  // The types of the table give the type of each value.
  return defined(Object.fromEntries(values)) as SettingValues;
}

/** Settings that the program combines. */
interface Together {
  readonly webhookBindAddress: BindAddress;
  /** The directory of the webhooks' certificate; absent: the operator makes its own. */
  readonly webhookCertDir?: string;
  readonly leaseTimes: LeaseTimes;
  readonly tls: TlsSettings;
  /** Absent: derived from their workers'. */
  readonly agentResources?: ContainerResources;
}

type Parts =
  | 'webhookPort'
  | 'webhookHost'
  | 'webhookCertDir'
  | 'makesCertificates'
  | 'leaseDuration'
  | 'renewDeadline'
  | 'retryPeriod'
  | 'leaderElectionLock'
  | 'tlsMinVersion'
  | 'tlsCipherSuites'
  | 'agentRequests'
  | 'agentLimits';

/** The contents of a file, under the names of the equivalent flags. */
export type ConfigurationSettings = Omit<SettingValues, Parts> & Together;

export function operatorSettings(given: GivenSettings): ConfigurationSettings {
  const {
    webhookPort: port,
    webhookHost,
    webhookCertDir,
    makesCertificates,
    leaseDuration: leaseDurationMs,
    renewDeadline: renewDeadlineMs,
    retryPeriod: retryPeriodMs,
    leaderElectionLock: _onlyLeases,
    tlsMinVersion,
    tlsCipherSuites,
    agentRequests: requests,
    agentLimits: limits,
    ...others
  } = settingValues(given);
  const hasResources = requests !== undefined || limits !== undefined;
  return {
    ...others,
    webhookBindAddress: { host: webhookHost, port },
    leaseTimes: { leaseDurationMs, renewDeadlineMs, retryPeriodMs },
    tls: tlsSettings(tlsMinVersion, tlsCipherSuites),
    ...(makesCertificates ? {} : { webhookCertDir }),
    ...(hasResources ? { agentResources: defined({ requests, limits }) } : {}),
  };
}
