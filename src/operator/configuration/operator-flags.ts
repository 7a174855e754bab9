/** The settings from the command line and the Configuration file together. */
import type { BindAddress } from './bind-address.ts';
import type { ConfigurationSettings } from './setting-values.ts';
import type { SETTINGS } from './settings.ts';

type Settings = typeof SETTINGS;

/** Settings with a flag and a default, which need no file. */
type Flagged = {
  [K in keyof Settings & keyof ConfigurationSettings]: Settings[K] extends {
    readonly flag: string;
    readonly default: unknown;
  }
    ? Settings[K] extends { readonly withoutFile: undefined }
      ? never
      : K
    : never;
}[keyof Settings & keyof ConfigurationSettings];

export interface OperatorFlags
  extends Pick<ConfigurationSettings, Flagged>,
    Partial<Omit<ConfigurationSettings, Flagged | 'webhookBindAddress'>> {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** The namespaces in which the operator acts; absent: all. */
  readonly namespaces?: readonly string[];
  readonly installCrd: boolean;
  readonly agentImage: string;
  readonly agentCommand?: string;
  readonly nativeRestartRules: boolean;
  readonly webhookBindAddress: BindAddress | 'off';
  readonly installWebhooks: boolean;
  /** `https://HOST:PORT`, without a path. */
  readonly webhookUrl?: string;
  readonly hubBindAddress: BindAddress | 'off';
  /** `https://HOST:PORT`, without a path. */
  readonly hubUrl?: string;
  readonly hubService?: string;
  readonly hubSecretName: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}
