/** Claims a network of its own for a node of this machine. */
import { freePort } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { type NodeNetwork, PortClaims } from '../pod-addresses.ts';

/** The port on which a node serves logs, as a kubelet does. */
export const KUBELET_PORT = 10_250;

/** The claimed network, and the listener that holds the claim until it is closed. */
export interface ClaimedNetwork<T> {
  readonly network: NodeNetwork;
  readonly listener: T;
}

/**
 * `listen` binds the kubelet's port at the given address, and that socket is the lock against other
 * clusters of this machine. If the system has no addresses but 127.0.0.1, `listen` gets port 0
 * there, and all nodes of this process must share `claims`. `preferredIP`: for a node that had it
 * before, and whose Pods still have addresses of its network.
 */
export async function claimNetwork<T>(
  random: Random,
  listen: (address: string, port: number) => Promise<T>,
  claims: PortClaims = new PortClaims(),
  preferredIP?: string,
): Promise<ClaimedNetwork<T>> {
  const preferred = /^127\.(\d+)\.0\.1$/.exec(preferredIP ?? '')?.[1];
  const start =
    preferred === undefined
      ? Math.floor(random.next() * NETWORKS)
      : Number(preferred) - FIRST_NETWORK;
  for (let i = 0; i < NETWORKS; i++) {
    const second = FIRST_NETWORK + ((start + i) % NETWORKS);
    const hostIP = `127.${second}.0.1`;
    try {
      const listener = await listen(hostIP, KUBELET_PORT);
      const network = { type: 'own-addresses', hostIP, podCIDR: `127.${second}.0.0/16` } as const;
      return { network, listener };
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EADDRNOTAVAIL') return shareAddress(random, listen, claims);
      if (code !== 'EADDRINUSE') throw error;
    }
  }
  throw new Error(`all ${NETWORKS} networks of 127.0.0.0/8 are in use on this machine`);
}

/** 127.0 is used by everyone, and 127.255 has the broadcast address. */
const FIRST_NETWORK = 1;
const NETWORKS = 254;
const SHARED_ADDRESS = '127.0.0.1';

async function shareAddress<T>(
  random: Random,
  listen: (address: string, port: number) => Promise<T>,
  claims: PortClaims,
): Promise<ClaimedNetwork<T>> {
  const listener = await listen(SHARED_ADDRESS, 0);
  return {
    network: {
      type: 'shared-address',
      hostIP: SHARED_ADDRESS,
      claims,
      freePort: () => freePort(random),
    },
    listener,
  };
}

/** The system's code, even if an adapter wrapped the error. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}
