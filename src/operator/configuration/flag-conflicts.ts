/** Errors of flags that exclude each other. */
import { ANY_ADDRESS } from './bind-address.ts';
import type { OperatorFlags } from './operator-flags.ts';

/** The conflict between flags of the webhooks, if there is one. */
export function webhookConflict(flags: OperatorFlags): string | undefined {
  const { webhookBindAddress, webhookService, webhookUrl: url, installWebhooks } = flags;
  if (installWebhooks && flags.webhookCertDir !== undefined) {
    return "option '--install-webhooks' needs internalCertManagement: with certificates from webhook.certDir, install the webhooks yourself";
  }
  if (webhookService !== undefined && url !== undefined) {
    return "options '--webhook-service' and '--webhook-url' cannot be used together";
  }
  if (webhookBindAddress === 'off' && flags.onlyManaged) {
    return "option '--only-managed' needs '--webhook-bind-address': without webhooks nothing keeps the restart mode, as upstream's definition drops it from the status";
  }
  if (webhookBindAddress === 'off') {
    const isUseless = installWebhooks || webhookService !== undefined || url !== undefined;
    return isUseless
      ? "options '--install-webhooks', '--webhook-service' and '--webhook-url' need '--webhook-bind-address'"
      : undefined;
  }
  const isSomewhere = webhookService !== undefined || url !== undefined;
  const isEverywhere = ANY_ADDRESSES.has(webhookBindAddress.host);
  return isEverywhere && !isSomewhere
    ? `option '--webhook-bind-address' is on all addresses (${webhookBindAddress.host}): add '--webhook-service' or '--webhook-url', so that API servers can reach it`
    : undefined;
}

/** The conflict between flags of the hub, if there is one. */
export function hubConflict(flags: OperatorFlags): string | undefined {
  const { hubBindAddress, hubService, hubUrl, agentChannel } = flags;
  if (hubService !== undefined && hubUrl !== undefined) {
    return "options '--hub-service' and '--hub-url' cannot be used together";
  }
  const isSomewhere = hubService !== undefined || hubUrl !== undefined;
  if (hubBindAddress === 'off') {
    return isSomewhere || agentChannel === 'Hub'
      ? "options '--hub-service', '--hub-url' and '--agent-channel Hub' need '--hub-bind-address'"
      : undefined;
  }
  return ANY_ADDRESSES.has(hubBindAddress.host) && !isSomewhere
    ? `option '--hub-bind-address' is on all addresses (${hubBindAddress.host}): add '--hub-service' or '--hub-url', so that agents can reach it`
    : undefined;
}

/** Two servers with one address: only the first could listen. */
export function addressConflict(flags: OperatorFlags): string | undefined {
  const taken = new Map<string, string>();
  for (const [flag, at] of [
    ['--webhook-bind-address', flags.webhookBindAddress],
    ['--hub-bind-address', flags.hubBindAddress],
    ['--metrics-bind-address', flags.metricsBindAddress],
    ['--health-probe-bind-address', flags.healthProbeBindAddress],
  ] as const) {
    if (at === 'off' || at.port === 0) continue;
    const place = `${at.host} port ${at.port}`;
    const other = taken.get(place);
    if (other !== undefined) return `options '${other}' and '${flag}' are both on ${place}`;
    taken.set(place, flag);
  }
  return undefined;
}

const ANY_ADDRESSES: ReadonlySet<string> = new Set([ANY_ADDRESS, '0.0.0.0']);
