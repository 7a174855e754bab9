/**
 * Gives a program and its children a network of their own, if Linux user namespaces are available.
 * Tests there reach no other machine, and no other machine reaches them. Besides loopback it has an
 * address that Kubernetes accepts behind a Service.
 */
import { spawnSync } from 'node:child_process';

/** Reserved for documentation, so it belongs to no machine. */
export const SERVICE_ADDRESS = '198.51.100.1';

const TIMEOUT_MS = 5_000;
const SET_UP = `ip link set lo up && ip addr add ${SERVICE_ADDRESS}/32 dev lo`;
const UNSHARE = ['unshare', '--user', '--map-root-user', '--net', 'sh', '-c'] as const;

/** The command line that runs `argv` there; undefined if the machine does not allow it. */
export function inOwnNetwork(argv: readonly string[]): readonly string[] | undefined {
  const [program, ...args] = UNSHARE;
  const tried = spawnSync(program, [...args, SET_UP], { timeout: TIMEOUT_MS, stdio: 'ignore' });
  return tried.status === 0 ? [...UNSHARE, `${SET_UP} && exec "$@"`, 'sh', ...argv] : undefined;
}
