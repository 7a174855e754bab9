/** Reads from the environment how an agent reaches the hub. */
import { ENV_AGENT_CHANNEL, ENV_HUB_CA, ENV_HUB_URL } from '../jobset/names.ts';
import type { EnvironmentReader } from './environment.ts';

export interface HubConfiguration {
  /** `https://HOST:PORT` */
  readonly url: string;
  /** PEM; undefined: the authorities that Node trusts. */
  readonly authorities: string | undefined;
  /** Whether the agent may use the API server while the hub is unreachable. */
  readonly hasFallback: boolean;
}

const CHANNELS: ReadonlySet<string> = new Set(['Auto', 'Hub', 'API']);

/** Undefined: the agent uses the API server alone. */
export function hubOf(read: EnvironmentReader): HubConfiguration | undefined {
  const url = read.optional(ENV_HUB_URL);
  const channel = read.optional(ENV_AGENT_CHANNEL) ?? 'Auto';
  if (!CHANNELS.has(channel)) read.reject(ENV_AGENT_CHANNEL, [...CHANNELS].join(', '));
  if (url === undefined && channel === 'Hub') {
    read.reject(ENV_HUB_URL, `https://HOST:PORT, since ${ENV_AGENT_CHANNEL} is Hub`);
  }
  if (url === undefined || channel === 'API') return undefined;
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') {
    read.reject(ENV_HUB_URL, 'https://HOST:PORT');
  }
  return { url, authorities: read.optional(ENV_HUB_CA), hasFallback: channel === 'Auto' };
}
