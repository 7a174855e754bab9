import { ENV_EMBEDDED_POD_IP, ENV_PORT_PREFIX } from '../../jobset/names.ts';

/** Where a server listens. */
export interface BindAddress {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, `:port` for all addresses, `0` for none; undefined for anything else. */
export function parseBindAddress(text: string): BindAddress | 'off' | undefined {
  if (text === '0') return 'off';
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]*)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) return undefined;
  return { host: match[1] ?? (match[2] || ANY_ADDRESS), port };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The address on a node whose Pods have no network of their own (the embedded cluster): all
 * addresses become the Pod's own, and the port may change.
 */
export function addressOnNode(address: BindAddress | 'off', env: Environment): BindAddress | 'off' {
  const podIP = env[ENV_EMBEDDED_POD_IP] ?? '';
  if (address === 'off' || podIP === '' || address.host !== ANY_ADDRESS) return address;
  const port = Number(env[`${ENV_PORT_PREFIX}${address.port}`] ?? address.port);
  return { host: podIP, port };
}

interface Addresses {
  readonly webhookBindAddress: BindAddress | 'off';
  readonly hubBindAddress: BindAddress | 'off';
  readonly metricsBindAddress: BindAddress | 'off';
  readonly healthProbeBindAddress: BindAddress | 'off';
}

/** The settings with `addressOnNode` applied to all addresses. */
export function flagsOnNode<Flags extends Addresses>(flags: Flags, env: Environment): Flags {
  return {
    ...flags,
    webhookBindAddress: addressOnNode(flags.webhookBindAddress, env),
    hubBindAddress: addressOnNode(flags.hubBindAddress, env),
    metricsBindAddress: addressOnNode(flags.metricsBindAddress, env),
    healthProbeBindAddress: addressOnNode(flags.healthProbeBindAddress, env),
  };
}

/** All addresses of the machine, of both families. */
export const ANY_ADDRESS = '::';
