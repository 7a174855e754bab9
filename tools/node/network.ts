/**
 * The network of a run, in a namespace of its own. All nodes share one bridge. Each node gives its
 * Pods addresses of its own range, with a host route for each, so that all reach each other.
 */
import { execFileSync } from 'node:child_process';

const TIMEOUT_MS = 10_000;

/** Where the API server listens for Pods and for nodes. */
export const API_ADDRESS = '10.99.0.1';
/** In the range of Services, for no Service has the tenth address unless one asks for it. */
export const DNS_ADDRESS = '10.0.0.10';
/** All Pods have addresses of it. Each node gives out a sixteenth. */
export const POD_NETWORK = '10.88.0.0/16';
export const MAX_NODES = 4;

/**
 * A second namespace, for programs of users outside of the cluster. Its only route leads to the API
 * server, so Pods, Services and nodes cannot be reached from there.
 */
export const OUTSIDE = '/run/netns/outside';
const API_FROM_OUTSIDE = '10.97.0.1';
const OUTSIDE_ADDRESS = '10.97.0.2';

export function nodeName(index: number): string {
  return `node-${index}`;
}

export function nodeAddress(index: number): string {
  return `10.99.0.${10 + index}`;
}

export function podRange(index: number): string {
  return `10.88.${16 * index}.0/20`;
}

export function makeNetwork(nodes: number): void {
  const addresses = Array.from({ length: nodes }, (_, index) => nodeAddress(index));
  const commands = [
    'link set lo up',
    `addr add ${DNS_ADDRESS}/32 dev lo`,
    'link add nodes type bridge',
    ...[API_ADDRESS, ...addresses].map((address) => `addr add ${address}/24 dev nodes`),
    'link set nodes up',
    // Addresses of Services need a way before they are translated; nothing ever leaves by it.
    'link add nowhere type bridge',
    'addr add 10.98.0.2/24 dev nowhere',
    'link set nowhere up',
    'route add default via 10.98.0.1 dev nowhere',
    'netns add outside',
    'link add outside type veth peer name eth0 netns outside',
    `addr add ${API_FROM_OUTSIDE}/30 dev outside`,
    'link set outside up',
    '-n outside link set lo up',
    `-n outside addr add ${OUTSIDE_ADDRESS}/30 dev eth0`,
    '-n outside link set eth0 up',
    `-n outside route add ${API_ADDRESS}/32 via ${API_FROM_OUTSIDE}`,
  ];
  for (const command of commands) {
    execFileSync('ip', command.split(' '), {
      timeout: TIMEOUT_MS,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
}
